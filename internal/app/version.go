package app

// Version is the version of the program, set when a release is built.
var Version = "dev"
