package client

import "time"

// Hasten makes the client lose its patience with operators' calls sooner.
func (c *Client) Hasten(prompt, stopping time.Duration) { c.prompt, c.stopping = prompt, stopping }
