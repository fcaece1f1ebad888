"""Dependency trees and treebanks."""
