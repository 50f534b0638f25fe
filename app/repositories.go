package app

import (
	"path/filepath"

	"github.com/bailiff-dev/bailiff/internal/project/carry"
	"github.com/bailiff-dev/bailiff/internal/project/keeper"
)

// newRepositories keeps git in sandboxes apart from the real git directories, where this machine can.
func (c *core) newRepositories() *carry.Repositories {
	state := filepath.Join(c.cfg.StateDir, "projects")
	k, err := keeper.New()
	if err != nil {
		c.log.Warn("git in sandboxes works on the real git directories of projects", "reason", err)
		return carry.New(state, nil, c.log)
	}
	return carry.New(state, k, c.log)
}
