package modal

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	modal "github.com/modal-labs/modal-client/go"
	pb "github.com/modal-labs/modal-client/go/proto/modal_proto"

	"github.com/bailiff-dev/bailiff/backends"
)

const workspaceFolder = "/workspace"

// page is how many volumes are asked for at once.
const page = 100

// volumeName is Modal's name for a workspace. A volume has no tags, so it is the
// name that tells whose it is and what specs call it.
func volumeName(owner, workspace string) string {
	return ownersVolumes(owner) + base64.RawURLEncoding.EncodeToString([]byte(workspace))
}

func ownersVolumes(owner string) string { return "bailiff-" + backends.Digest(owner)[:12] + "-" }

func workspaceOf(spec backends.Spec) string {
	if spec.Workspace == "" {
		return ""
	}
	return volumeName(spec.Owner, spec.Workspace)
}

// settle notes who has a workspace, until depart.
func (b *Backend) settle(s *sandbox) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.workspace != "" {
		b.users[s.workspace] = append(b.users[s.workspace], s)
	}
}

func (b *Backend) depart(s *sandbox) {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := slices.DeleteFunc(b.users[s.workspace], func(other *sandbox) bool { return other == s })
	if b.users[s.workspace] = left; len(left) == 0 {
		delete(b.users, s.workspace)
	}
}

// handOver has what was written to a workspace be there for a machine that is to be
// made.
func (b *Backend) handOver(ctx context.Context, workspace string) error {
	b.mu.Lock()
	users := slices.Clone(b.users[workspace])
	b.mu.Unlock()
	for _, s := range users {
		if err := s.writeOut(ctx); err != nil {
			return err
		}
	}
	return nil
}

// writeOut has Modal write out the workspace, which it does at the end of a machine
// too.
func (s *sandbox) writeOut(ctx context.Context) error {
	if s.isOver() {
		return s.end(ctx)
	}
	err := s.sync(ctx)
	if err != nil && s.isOver() { // meanwhile
		return s.end(ctx)
	}
	return err
}

func (s *sandbox) isOver() bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}

// sync is what Modal takes as the word to write out a volume.
func (s *sandbox) sync(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, endWithin)
	defer cancel()
	code := 0
	process, err := s.machine.Exec(ctx, []string{"sync", workspaceFolder}, &modal.SandboxExecParams{Stdout: modal.Ignore,
		Stderr: modal.Ignore})
	if err == nil {
		code, err = process.Wait(ctx, nil)
	}
	if err == nil && code != 0 {
		err = fmt.Errorf("sync ended with %d", code)
	}
	if err != nil {
		return s.account.fault(ctx, "writing out the workspace that sandbox "+s.ID()+" has", err)
	}
	return nil
}

// volume is that of a named workspace, made if it is missing, or nil.
func (b *Backend) volume(ctx context.Context, a *account, spec backends.Spec) (*modal.Volume, error) {
	if spec.Workspace == "" {
		return nil, nil
	}
	if err := b.handOver(ctx, workspaceOf(spec)); err != nil {
		return nil, err
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
