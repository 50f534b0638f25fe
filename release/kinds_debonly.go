//go:build debonly

package main

// debOnly makes nothing but the Debian package, for its test; what makes the others need not be there then.
const debOnly = true
