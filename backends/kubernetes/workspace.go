package kubernetes

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/workdirs"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// claim is what is read of a claim of storage.
type claim struct {
	Metadata struct {
		Name                string
		DeletionTimestamp   *time.Time
		Labels, Annotations map[string]string
	}
	Spec struct {
		Resources struct{ Requests map[string]string }
	}
}

const claims = "persistentvolumeclaims"

func claimName(owner, workspace string) string { return "bailiff-" + backends.Digest(owner, workspace) }

// claimOf makes the claim of a named workspace, if need be, and returns its name; empty where there is none.
func (b *Backend) claimOf(ctx context.Context, spec backends.Spec) (string, error) {
	if spec.Workspace == "" {
		return "", nil
	}
	name, size := claimName(spec.Owner, spec.Workspace), mebibytes(b.cfg.WorkspaceMB)
	if share := workdirs.ShareMB(spec.DiskMB, workdirs.MountPath); share > 0 {
		size = mebibytes(share)
	}
	for {
		err := b.ask(ctx, http.MethodPost, claims, nil, b.claim(name, size, spec), nil)
		if statusOf(err) != http.StatusConflict {
			return name, err
		}
		var have claim
		err = b.ask(ctx, http.MethodGet, claims+"/"+name, nil, nil, &have)
		if err == nil && have.Metadata.DeletionTimestamp == nil {
			is := have.Spec.Resources.Requests["storage"]
			if spec.DiskMB > 0 && !isSame(is, size) && !slices.Contains(b.cfg.AcceptMissing, diskMB) {
				return "", fmt.Errorf("%w: disk_mb: the workspace was made with the bound %s, not %s", backends.ErrUnsupported, is, size)
			}
			return name, nil
		}
		if err != nil && statusOf(err) != http.StatusNotFound {
			return "", err
		}
		if err := httpapi.Wait(ctx, pause); err != nil {
			return "", fmt.Errorf("%w: the workspace is being removed: %w", backends.ErrUnavailable, err)
		}
	}
}

// isSame compares quantities, which the API writes in its own way: 1Gi for 1024Mi.
func isSame(a, b string) bool {
	one, err := resource.ParseQuantity(a)
	other, fault := resource.ParseQuantity(b)
	return err == nil && fault == nil && one.Cmp(other) == 0
}

// pause is how long a claim that is being removed is left alone.
const pause = 100 * time.Millisecond

func (b *Backend) claim(name, size string, spec backends.Spec) m {
	metadata := b.metadata(name, spec)
	metadata["labels"] = map[string]string{ofOwner: backends.Digest(spec.Owner), ofWorkspace: backends.Digest(spec.Workspace)}
	metadata["annotations"] = map[string]string{workspaceName: spec.Workspace}
	wanted := m{"accessModes": []string{"ReadWriteOnce"}, "resources": m{"requests": m{"storage": size}}}
	if b.cfg.StorageClass != "" {
		wanted["storageClassName"] = b.cfg.StorageClass
	}
	return m{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": wanted}
}

// Workspaces lists the owner's named workspaces by the annotations of their claims.
func (b *Backend) Workspaces(ctx context.Context, owner string) ([]string, error) {
	if err := b.connect(); err != nil {
		return nil, err
	}
	var found struct{ Items []claim }
	query := url.Values{"labelSelector": {ofOwner + "=" + backends.Digest(owner)}}
	if err := b.ask(ctx, http.MethodGet, claims, query, nil, &found); err != nil {
		return nil, fmt.Errorf("listing workspaces: %w", err)
	}
	var names []string
	for _, c := range found.Items {
		if c.Metadata.DeletionTimestamp == nil {
			names = append(names, c.Metadata.Annotations[workspaceName])
		}
	}
	return names, nil
}

// RemoveWorkspace deletes the claim of a named workspace. The cluster removes it once no pod has it.
func (b *Backend) RemoveWorkspace(ctx context.Context, owner, workspace string) error {
	if err := b.connect(); err != nil {
		return err
	}
	err := b.ask(ctx, http.MethodDelete, claims+"/"+claimName(owner, workspace), nil, nil, nil)
	if err != nil && statusOf(err) != http.StatusNotFound {
		return fmt.Errorf("removing a workspace: %w", err)
	}
	return nil
}
