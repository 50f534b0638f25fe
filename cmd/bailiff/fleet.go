package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/cmd/bailiff/cli"
	"github.com/bailiff-dev/bailiff/internal/fleet/peers"
)

func newFleet() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Prepare sidecars that share a database",
		Long: `Prepares sidecars that share a PostgreSQL and send each other requests.

Exit status: 0, or 1 if something could not be done.`,
	}
	cmd.AddCommand(newFleetCertificates())
	cli.NamingOne(cmd)
	return cmd
}

// day is the unit of --days.
const day = 24 * time.Hour

func newFleetCertificates() *cobra.Command {
	var folder string
	var days int
	cmd := &cobra.Command{
		Use:   "certificates --dir FOLDER NAME[=HOST[,HOST…]]…",
		Short: "Make the certificates by which sidecars know each other",
		Long: `Makes an authority and, for each sidecar that is named, a certificate and its key, for
"store.peer.tls" of the configuration. A sidecar's certificate is for the hosts where the
others reach it ("store.peer.address"), which are names or addresses; its name is one where
none is given. The authority, peers-ca.pem and peers-ca.key, is kept for sidecars that are added
later.

All files are for their owner alone, and none is overwritten: move a certificate away to make
it anew. A sidecar gets peers-ca.pem and its own two files. Keep peers-ca.key away from all of
them: the holder can be any sidecar.

Exit status: 0, or 1 if something could not be made.`,
		Example: `  bailiff fleet certificates --dir peers bailiff-0=bailiff-0.example.com bailiff-1=192.0.2.7
  bailiff fleet certificates --dir peers bailiff-2`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			named, err := peersOf(args)
			if err != nil {
				return err
			}
			if days <= 0 {
				return errors.New("--days wants a number above 0")
			}
			return makeCertificates(cmd, folder, named, time.Duration(days)*day)
		},
	}
	cmd.Flags().StringVar(&folder, "dir", "", "the `folder` for the files, which is made")
	cmd.Flags().IntVar(&days, "days", 365, "how many `days` the certificates last")
	cobra.CheckErr(cmd.MarkFlagRequired("dir"))
	return cmd
}

func makeCertificates(cmd *cobra.Command, folder string, named []peers.Peer, life time.Duration) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	authority, err := peers.OpenAuthority(folder)
	if err != nil {
		return err
	}
	if err := authority.Issue(named, life); err != nil {
		return err
	}
	if authority.Made {
		fmt.Fprintf(cmd.OutOrStdout(), "made the authority %s; keep %s away from the sidecars\n", authority.Certificate, authority.Key)
	}
	for _, p := range named {
		fmt.Fprintf(cmd.OutOrStdout(), "made the certificate of %s for %s\n", p.Name, strings.Join(p.Hosts, ", "))
	}
	return nil
}

var (
	// peerName is what a file may be called.
	peerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	// hostName is a host's name, or an address of IPv4.
	hostName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$`)
)

// peersOf reads arguments such as bailiff-0=bailiff-0.example.com,192.0.2.7.
func peersOf(args []string) (all []peers.Peer, err error) {
	seen := map[string]bool{"peers-ca": true}
	for _, arg := range args {
		name, hosts, given := strings.Cut(arg, "=")
		p := peers.Peer{Name: name, Hosts: []string{name}}
		if given {
			p.Hosts = strings.Split(hosts, ",")
		}
		if !peerName.MatchString(name) || seen[name] {
			return nil, fmt.Errorf("%q names no sidecar of its own: want letters, digits, ., - and _", name)
		}
		seen[name] = true
		for _, host := range p.Hosts {
			if !hostName.MatchString(host) && net.ParseIP(host) == nil {
				return nil, fmt.Errorf("%q of %s is no host's name and no address, which come without a port", host, name)
			}
		}
		all = append(all, p)
	}
	return all, nil
}
