// Command site makes a static site of bailiff's pages: the README, SECURITY.md, the changelog and
// all of docs/, with their pictures and the files that they lead to. It starts with the list of all
// pages (docs/README.md), in whose order they stand.
//
// Promised is that each link leads to a page, a heading or a file that the site has, or no site is
// made; that it asks no other host for anything; that it can be searched without a server, from a
// folder too; and that the same pages give the same bytes.
//
// It is a module of its own, so that what reads Markdown is no dependency of bailiff. Not here:
// publishing.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	source := flag.String("source", "..", "the `folder` of the repository")
	out := flag.String("out", "../bin/site", "the `folder` for the site; it is made anew")
	flag.Parse()
	if err := run(*source, *out); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(source, out string) error {
	s, err := build(os.DirFS(source))
	if err != nil {
		return err
	}
	if err := s.write(out); err != nil {
		return fmt.Errorf("writing the site: %w", err)
	}
	fmt.Printf("%d pages are in %s; open index.html there\n", len(s.pages), out)
	return nil
}
