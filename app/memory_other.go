//go:build !linux

package app

// dropProgramPages is for Linux alone, where pages can go from a process and stay in the cache.
func dropProgramPages() {}
