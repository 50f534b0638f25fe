package kubernetes

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/settings"
)

var _ backends.Maker = (*Config)(nil)

// Defaults returns the configuration of a section that says nothing.
func Defaults() *Config {
	return &Config{Namespace: "bailiff-sandboxes", WorkspaceMB: 10240, RequestedShare: 0.25, StartTimeout: 2 * time.Minute}
}

// Settings are the keys of backends.kubernetes.
func (c *Config) Settings() []settings.Setting {
	return []settings.Setting{
		{Key: "kubeconfig", Into: &c.Kubeconfig, Path: true, Present: settings.IsSecret},
		{Key: "context", Into: &c.Context},
		{Key: "namespace", Into: &c.Namespace},
		{Key: "image", Into: &c.Image, Check: wantPinned},
		{Key: "runner_image", Into: &c.RunnerImage, Check: wantPinned},
		{Key: "runtime_class", Into: &c.RuntimeClass},
		{Key: "storage_class", Into: &c.StorageClass},
		{Key: "workspace_mb", Into: &c.WorkspaceMB, Least: 16, Most: 1 << 24},
		{Key: "full_network", Into: &c.FullNetwork},
		{Key: "owner", Into: []settings.Setting{
			{Key: "config_map", Into: &c.OwnerConfigMap},
			{Key: "uid", Into: &c.OwnerUID},
		}},
		{Key: "requested_share", Into: &c.RequestedShare},
		{Key: "start_timeout", Into: &c.StartTimeout, Least: 5, Most: 1800},
		{Key: "accept_missing_limits", Into: &c.AcceptMissing, Valid: []string{diskMB}},
	}
}

func wantPinned(image string) error {
	if !isPinned(image) {
		return errors.New("want an image by its digest, NAME@sha256:…")
	}
	return nil
}

// Check says what is wrong with the keys together.
func (c *Config) Check() error {
	switch {
	case c.Namespace == "":
		return errors.New("namespace is empty, want that of the sandboxes")
	case c.Context != "" && c.Kubeconfig == "":
		return errors.New("context is for a kubeconfig, and none is named")
	case (c.OwnerConfigMap == "") != (c.OwnerUID == ""):
		return errors.New("owner wants both config_map and uid, or neither")
	}
	return nil
}

// Isolated is true.
func (*Config) Isolated() bool { return true }

// DefaultImage is what sandboxes run where the policies name none.
func (c *Config) DefaultImage() string { return c.Image }

// Make makes the backend.
func (c *Config) Make(in backends.Host) (backends.Backend, error) {
	made := *c
	made.Log, made.Epoch, made.CheckOwner = in.Log, in.Epoch, in.CheckOwner
	return New(made)
}

// cluster is how the API is reached.
func (c *Config) cluster() (*rest.Config, error) {
	if c.Kubeconfig == "" {
		found, err := rest.InClusterConfig()
		if err != nil {
			return nil, fmt.Errorf("%w: this sidecar runs in no pod of a cluster (%w): name backends.kubernetes.kubeconfig",
				backends.ErrUnavailable, err)
		}
		return found, nil
	}
	found, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&clientcmd.ClientConfigLoadingRules{ExplicitPath: c.Kubeconfig},
		&clientcmd.ConfigOverrides{CurrentContext: c.Context}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("%w: reading the kubeconfig: %w", backends.ErrUnavailable, err)
	}
	return found, nil
}
