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
	switch {
	case e.listen != "":
		token, err := config.ReadToken(e.tokenFile)
		if err != nil {
			return nil, err
		}
		return client.New(e.listen, token)
	case e.tokenFile != "":
		return nil, errors.New("--token-file goes with --listen; without that the configuration names the file")
	}
	cfg, err := offline.LoadConfig(configPath)
	if err != nil {
		return nil, err
	}
	return agentClient(cfg, platform)
}

// agentClient asks at the first listener that may speak for the platform.
func agentClient(cfg *config.Config, platform string) (*client.Client, error) {
	for _, l := range cfg.Agent.Listeners {
		if !l.SpeaksFor(platform) {
			continue
		}
		token, err := config.ReadToken(l.TokenFile)
		if err != nil {
			return nil, err
		}
		return client.New(l.Listen.String(), token)
	}
	return nil, fmt.Errorf("no listener may speak for platform %q: add it to a listener's platforms in bailiff.yaml", platform)
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
