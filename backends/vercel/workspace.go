package vercel

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// bringDrive finds or makes the drive of a named workspace, empty if none is named,
// and waits for a while if another machine has it still.
func (b *Backend) bringDrive(ctx context.Context, spec backends.Spec) (string, error) {
	if spec.Workspace == "" {
		return "", nil
	}
	name, err := driveName(spec.Owner, spec.Workspace)
	if err != nil {
		return "", err
	}
	for deadline := time.Now().Add(b.patience); ; {
		drive, err := b.getDrive(ctx, name, driveBytes(spec))
		if err != nil {
			return "", unavailable("bringing the workspace's drive", err)
		}
		if drive.Session == "" {
			return name, nil
		}
		if time.Now().After(deadline) {
			return "", fmt.Errorf("%w: the workspace is a drive that another machine has still (%s), and one at a time can have it",
				backends.ErrUnavailable, drive.Sandbox)
		}
		if err := httpapi.Wait(ctx, b.patience/50); err != nil {
			return "", fmt.Errorf("waiting for the workspace's drive: %w", err)
		}
	}
}

// getDrive keeps the size of a drive that has another one already.
func (b *Backend) getDrive(ctx context.Context, name string, size int64) (drive, error) {
	found, err := b.api.drive(ctx, name, b.cfg.Region, size)
	if size > 0 && httpapi.Status(err) == http.StatusConflict {
		return b.api.drive(ctx, name, b.cfg.Region, 0)
	}
	return found, err
}

// Workspaces lists the owner's named workspaces by the names of their drives.
func (b *Backend) Workspaces(ctx context.Context, owner string) ([]string, error) {
	found, err := b.api.drives(ctx, ofOwner(owner))
	if err != nil {
		return nil, unavailable("listing drives at Vercel", err)
	}
	var list []string
	for _, drive := range found {
		if workspace, ok := workspaceOf(owner, drive.Name); ok {
			list = append(list, workspace)
		}
	}
	return list, nil
}

// RemoveWorkspace deletes the drive of a named workspace; one that a machine has
// cannot go.
func (b *Backend) RemoveWorkspace(ctx context.Context, owner, workspace string) error {
	name, err := driveName(owner, workspace)
	if err != nil {
		return nil // there never was one
	}
	if err := b.api.removeDrive(ctx, name); err != nil {
		return unavailable("removing a drive at Vercel", err)
	}
	return nil
}
