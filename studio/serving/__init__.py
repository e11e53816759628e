"""What stands between the network and the app: names, passphrase, spaces."""
