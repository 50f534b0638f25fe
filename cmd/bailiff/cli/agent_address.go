package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
)

// AgentAddress is how a command finds the sidecar that it asks as an agent does: at the
// address that --listen names, without any configuration, or by the configuration.
type AgentAddress struct{ listen, tokenFile string }

// Register adds the flags that name the address.
func (e *AgentAddress) Register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&e.listen, "listen", "", "the `address` at which the sidecar takes requests, unix:///path or tcp://host:port "+
		"(default: what the configuration says)")
	f.StringVar(&e.tokenFile, "token-file", "", "the `file` with the token of that address")
}

// Open returns a client for requests of the platform.
func (e AgentAddress) Open(configPath, platform string) (*client.Client, error) {
	listen, tokenFile, err := e.Find(configPath, platform)
	if err != nil {
		return nil, err
	}
	token, err := config.ReadToken(tokenFile)
	if err != nil {
		return nil, err
	}
	return client.New(listen, token)
}

// Find is the address, with the file of its token: by the flags, or the first listener that may
// speak for the platform.
func (e AgentAddress) Find(configPath, platform string) (listen, tokenFile string, err error) {
	switch {
	case e.listen != "":
		return e.listen, e.tokenFile, nil
	case e.tokenFile != "":
		return "", "", errors.New("--token-file goes with --listen; without that the configuration names the file")
	}
	cfg, err := offline.LoadConfig(configPath)
	if err != nil {
		return "", "", err
	}
	for _, l := range cfg.Agent.Listeners {
		if l.SpeaksFor(platform) {
			return l.Listen.String(), l.TokenFile, nil
		}
	}
	return "", "", fmt.Errorf("no listener may speak for platform %q: add it to a listener's platforms in bailiff.yaml", platform)
}

// ListenOf is where the user's agents ask.
func ListenOf(cfg *config.Config) string {
	for _, l := range cfg.Agent.Listeners {
		if l.SpeaksFor("cli") && l.Listen.Network == "unix" {
			return l.Listen.String()
		}
	}
	return ""
}
