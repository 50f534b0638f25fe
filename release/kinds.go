//go:build !debonly

package main

import _ "github.com/goreleaser/nfpm/v2/rpm" // a format that nfpm knows

const debOnly = false
