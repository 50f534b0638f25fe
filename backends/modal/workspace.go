package modal

import (
	"context"
	"encoding/base64"
	"strings"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/modal-labs/modal-client/go"
	pb "github.com/modal-labs/modal-client/go/proto/modal_proto"
)

const workspaceFolder = "/workspace"

// page is how many volumes are asked for at once.
const page = 100

// volumeName is Modal's name for a workspace. A volume has no tags, so it is the
// name that tells whose it is and what specs call it.
func volumeName(owner, workspace string) string {
	return ownersVolumes(owner) + base64.RawURLEncoding.EncodeToString([]byte(workspace))
}

func ownersVolumes(owner string) string { return "bailiff-" + digest(owner)[:12] + "-" }

// volume is that of a named workspace, made if it is missing, or nil.
func (b *Backend) volume(ctx context.Context, a *account, spec backends.Spec) (*modal.Volume, error) {
	if spec.Workspace == "" {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	found, err := a.Volumes.FromName(ctx, volumeName(spec.Owner, spec.Workspace),
		&modal.VolumeFromNameParams{Environment: b.cfg.Environment, CreateIfMissing: true, Version: 2})
	if err != nil {
		return nil, a.fault(ctx, "making a workspace", err)
	}
	return found, nil
}

// Workspaces lists the owner's by the names of their volumes.
func (b *Backend) Workspaces(ctx context.Context, owner string) ([]string, error) {
	a, err := b.use()
	if err != nil {
		return nil, err
	}
	defer b.leave(a)
	if _, err := b.app(ctx, a); err != nil { // from then on there is a line
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	var list []string
	err = a.eachVolume(ctx, b.cfg.Environment, func(name string) {
		encoded, its := strings.CutPrefix(name, ownersVolumes(owner))
		if workspace, err := base64.RawURLEncoding.DecodeString(encoded); its && err == nil {
			list = append(list, string(workspace))
		}
	})
	if err != nil {
		return nil, a.fault(ctx, "listing workspaces", err)
	}
	return list, nil
}

// eachVolume goes through all volumes, the newest first.
func (a *account) eachVolume(ctx context.Context, environment string, visit func(name string)) error {
	control := pb.NewModalClientClient(a.line.Load())
	for before := 0.0; ; {
		got, err := control.VolumeList(ctx, pb.VolumeListRequest_builder{
			EnvironmentName: environment,
			Pagination:      pb.ListPagination_builder{MaxObjects: page, CreatedBefore: before}.Build(),
		}.Build())
		if err != nil {
			return err
		}
		items := got.GetItems()
		for _, item := range items {
			visit(item.GetLabel())
		}
		if len(items) < page {
			return nil
		}
		before = items[len(items)-1].GetCreatedAt()
	}
}

// RemoveWorkspace deletes the volume of a named workspace.
func (b *Backend) RemoveWorkspace(ctx context.Context, owner, workspace string) error {
	a, err := b.use()
	if err != nil {
		return err
	}
	defer b.leave(a)
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	err = a.Volumes.Delete(ctx, volumeName(owner, workspace), &modal.VolumeDeleteParams{Environment: b.cfg.Environment, AllowMissing: true})
	if err != nil && !isGone(err) {
		return a.fault(ctx, "removing a workspace", err)
	}
	return nil
}
