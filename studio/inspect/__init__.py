"""What the Learners and Dependence pages share."""
