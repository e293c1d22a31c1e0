"""What a user is doing: the session, its settings, its link."""
