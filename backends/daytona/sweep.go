package daytona

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// Sweep removes the owner's sandboxes by their labels. One that holds a named
// workspace is stopped, if it runs.
func (b *Backend) Sweep(ctx context.Context, owner string, keep func(id string) bool) (int, error) {
	found, err := b.owned(ctx, map[string]string{labelOwner: owner})
	removed := 0
	for _, m := range found {
		if b.opening.Has(m.Name) || keep(m.ID) {
			continue
		}
		kept := m.Labels[labelWorkspace] != ""
		if kept && (m.State == stopped || m.State == archived) {
			continue
		}
		if left := b.dismiss(ctx, m.ID, kept); left != nil {
			err = errors.Join(err, left)
			continue
		}
		removed++
	}
	return removed, err
}

// owned lists machines that are not yet on their way out. Daytona's list lags
// behind and may show others' too where a label is unknown to it, so labels are
// compared here again.
func (b *Backend) owned(ctx context.Context, labels map[string]string) ([]machine, error) {
	found, err := b.api.labelled(ctx, labels)
	if err != nil {
		return nil, unavailable("listing sandboxes", err)
	}
	return slices.DeleteFunc(found, func(m machine) bool {
		for name, value := range labels {
			if m.Labels[name] != value {
				return true
			}
		}
		return m.State == destroying || m.State == destroyed
	}), nil
}

// halt stops a machine and waits until it is. One that is not there is no fault.
func (b *Backend) halt(ctx context.Context, id string) error {
	m, err := b.api.machine(ctx, id)
	if httpapi.Status(err) == http.StatusNotFound {
		return nil
	}
	if err == nil && m.State != stopped && m.State != archived {
		err = b.api.stop(ctx, id)
		if err == nil {
			m.State = "stopping"
			_, err = b.await(ctx, m, stopped)
		}
	}
	if err != nil {
		return unavailable("stopping a sandbox", err)
	}
	return nil
}

// Workspaces lists the owner's named workspaces by the labels of the machines that
// hold them.
func (b *Backend) Workspaces(ctx context.Context, owner string) ([]string, error) {
	found, err := b.owned(ctx, map[string]string{labelOwner: owner})
	var names []string
	for _, m := range found {
		if name := m.Labels[labelWorkspace]; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, err
}

// RemoveWorkspace deletes the machines that hold a named workspace.
func (b *Backend) RemoveWorkspace(ctx context.Context, owner, workspace string) error {
	found, err := b.owned(ctx, map[string]string{labelOwner: owner, labelWorkspace: workspace})
	for _, m := range found {
		err = errors.Join(err, b.discard(ctx, m.ID))
	}
	return err
}
