"""What two learners share, or what is too long for one file; it imports no learner."""
