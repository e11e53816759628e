"""What the Data and Home pages share."""
