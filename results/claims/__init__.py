"""What the paper claims, beside what the records of all tasks say."""
