"""Complete jobs: from data and a config to a trained model and its measures."""
