"""What an open file is: documents, graphs, scopes, tensors, names."""
