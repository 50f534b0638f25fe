package kubernetes

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/backends/workdirs"
)

// The labels of pods and claims, digests of names that may tell who talks to whom.
const (
	ofOwner     = "bailiff.dev/owner"
	ofSession   = "bailiff.dev/session"
	ofWorkspace = "bailiff.dev/workspace"
	ofSpec      = "bailiff.dev/spec"
	// expiresAt and workspaceName are annotations.
	expiresAt     = "bailiff.dev/expires"
	workspaceName = "bailiff.dev/workspace-name"
)

// The containers of a pod, and bailiff's program in its own image.
const (
	bringer    = "bring"
	doorkeeper = "door"
	inside     = "sandbox"
	program    = "/usr/local/bin/bailiff-runner"
)

// Users: the door's, which no sandbox is, and the first and the number of those of sandboxes.
const (
	doorUser   = 10001
	firstUser  = 1 << 30
	users      = 1 << 29
	longest    = 24 * time.Hour
	memoryDoor = "64Mi"
)

// m is a part of a description.
type m = map[string]any

func labels(spec backends.Spec) map[string]string {
	all := map[string]string{ofOwner: backends.Digest(spec.Owner), ofSession: backends.Digest(spec.Session), ofSpec: specDigest(spec)}
	if spec.Workspace != "" {
		all[ofWorkspace] = backends.Digest(spec.Workspace)
	}
	return all
}

func specDigest(spec backends.Spec) string {
	spec.Expires = time.Time{}
	return backends.Digest(spec.Text())
}

func expiry(spec backends.Spec) string {
	if spec.Expires.IsZero() {
		return ""
	}
	return spec.Expires.UTC().Format(time.RFC3339)
}

// user is the number of a pod's user: a workspace's files are one user's, and other pods have users of their own, so that the kernel's
// bound on a user's processes is one on the pod's.
func user(name string, spec backends.Spec) int64 {
	of := name
	if spec.Workspace != "" {
		of = backends.Digest(spec.Owner, spec.Workspace)
	}
	sum := fnv.New64a()
	sum.Write([]byte(of))
	return firstUser + int64(sum.Sum64()%users)
}

// pod describes the pod of a spec.
func (b *Backend) pod(name, claim, image string, spec backends.Spec) m {
	uid := user(name, spec)
	volumes, mounts := writable(claim, spec)
	volumes = append(volumes, m{"name": "bailiff", "emptyDir": m{"medium": "Memory", "sizeLimit": "64Mi"}},
		m{"name": "door", "emptyDir": m{"medium": "Memory", "sizeLimit": "1Mi"}})
	mounts = append(mounts, m{"name": "bailiff", "mountPath": wire.RunnerFolder, "readOnly": true})
	sandbox := m{"name": inside, "image": image, "imagePullPolicy": "IfNotPresent", "workingDir": "/",
		"command":                []string{wire.RunnerFile, wire.Hold, strconv.Itoa(spec.PIDs)},
		"terminationMessagePath": wire.MessageFile, "volumeMounts": mounts, "resources": b.resources(spec),
		"securityContext": confined(spec.ReadOnly, uid)}
	seconds := int64(max(time.Until(spec.Ends(time.Now(), longest)), time.Second) / time.Second)
	description := m{
		"automountServiceAccountToken": false, "enableServiceLinks": false, "restartPolicy": "Never", "hostname": "sandbox",
		"terminationGracePeriodSeconds": 1, "activeDeadlineSeconds": seconds,
		"securityContext": m{"runAsNonRoot": true, "fsGroup": uid, "fsGroupChangePolicy": "OnRootMismatch",
			"seccompProfile": m{"type": "RuntimeDefault"}, "sysctls": sysctls(spec)},
		"initContainers": b.own(spec), "containers": []m{sandbox}, "volumes": volumes,
	}
	if spec.Network != "full" {
		description["dnsPolicy"], description["dnsConfig"] = "None", m{"nameservers": []string{wire.Resolver}}
	}
	if b.cfg.RuntimeClass != "" {
		description["runtimeClassName"] = b.cfg.RuntimeClass
	}
	return m{"apiVersion": "v1", "kind": "Pod", "metadata": b.metadata(name, spec), "spec": description}
}

func (b *Backend) metadata(name string, spec backends.Spec) m {
	of := m{"name": name, "labels": labels(spec), "annotations": map[string]string{expiresAt: expiry(spec)}}
	if b.cfg.OwnerConfigMap != "" {
		of["ownerReferences"] = []m{{"apiVersion": "v1", "kind": "ConfigMap", "name": b.cfg.OwnerConfigMap, "uid": b.cfg.OwnerUID}}
	}
	return of
}

// own are the containers of bailiff's image: what brings the runner, and the door.
func (b *Backend) own(spec backends.Spec) []m {
	bring, stand := []string{program, wire.Bring}, []string{program, wire.Stand}
	bringing, standing := confined(true, doorUser), confined(true, doorUser)
	if spec.Network != "full" {
		bring, stand = append(bring, wire.Severed), append(stand, wire.Severed)
		bringing = m{"runAsUser": 0, "runAsNonRoot": false, "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
			"capabilities": m{"drop": []string{"ALL"}, "add": []string{"NET_ADMIN"}}}
	}
	small := m{"limits": m{"memory": memoryDoor}, "requests": m{"memory": "16Mi", "cpu": "10m"}}
	return []m{
		{"name": bringer, "image": b.cfg.RunnerImage, "imagePullPolicy": "IfNotPresent", "command": bring, "securityContext": bringing,
			"resources": small, "volumeMounts": []m{{"name": "bailiff", "mountPath": wire.RunnerFolder}}},
		{"name": doorkeeper, "image": b.cfg.RunnerImage, "imagePullPolicy": "IfNotPresent", "command": stand, "restartPolicy": "Always",
			"securityContext": standing, "resources": small, "volumeMounts": []m{{"name": "door", "mountPath": wire.DoorFolder}}},
	}
}

func confined(readOnly bool, uid int64) m {
	return m{"runAsUser": uid, "runAsGroup": uid, "runAsNonRoot": true, "allowPrivilegeEscalation": false,
		"readOnlyRootFilesystem": readOnly, "capabilities": m{"drop": []string{"ALL"}}}
}

// sysctls let the runner be the resolver of programs at its usual port.
func sysctls(spec backends.Spec) []m {
	if spec.Network != backends.Egress {
		return []m{}
	}
	return []m{{"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"}}
}

// writable are the folders that a sandbox may write to: in memory, but for the workspace that has a claim.
func writable(claim string, spec backends.Spec) (volumes, mounts []m) {
	for i, folder := range workdirs.Writable {
		if folder == workdirs.Root {
			continue
		}
		name := fmt.Sprintf("folder-%d", i)
		if folder == workdirs.MountPath && claim != "" {
			volumes = append(volumes, m{"name": name, "persistentVolumeClaim": m{"claimName": claim}})
			mounts = append(mounts, m{"name": name, "mountPath": folder, "subPath": "files"})
			continue
		}
		in := m{"medium": "Memory"}
		if size := workdirs.ShareMB(spec.DiskMB, folder); size > 0 {
			in["sizeLimit"] = mebibytes(size)
		}
		volumes = append(volumes, m{"name": name, "emptyDir": in})
		mounts = append(mounts, m{"name": name, "mountPath": folder})
	}
	return volumes, mounts
}

func mebibytes(n int) string { return strconv.Itoa(n) + "Mi" }

// resources are a spec's limits, and the part of them that its node keeps for it.
func (b *Backend) resources(spec backends.Spec) m {
	limits, requests := m{}, m{}
	if spec.CPUs > 0 {
		limits["cpu"] = fmt.Sprintf("%dm", int(spec.CPUs*1000))
		requests["cpu"] = fmt.Sprintf("%dm", max(1, int(spec.CPUs*1000*b.cfg.RequestedShare)))
	}
	if spec.MemoryMB > 0 {
		limits["memory"] = mebibytes(spec.MemoryMB)
		requests["memory"] = mebibytes(max(1, int(float64(spec.MemoryMB)*b.cfg.RequestedShare)))
	}
	return m{"limits": limits, "requests": requests}
}

// pod is what is read of one.
type pod struct {
	Metadata struct {
		Name, ResourceVersion string
		CreationTimestamp     time.Time
		DeletionTimestamp     *time.Time
		Labels, Annotations   map[string]string
	}
	Status struct {
		Phase, Reason, Message string
		InitContainerStatuses  []container
		ContainerStatuses      []container
	}
}

// container is what is read of one of a pod.
type container struct {
	Name  string
	State struct {
		Running    *struct{}
		Waiting    *struct{ Reason, Message string }
		Terminated *struct {
			ExitCode        int
			Reason, Message string
		}
	}
}

func (p pod) runs() bool {
	for _, c := range p.Status.ContainerStatuses {
		if c.Name == inside && c.State.Running != nil {
			return true
		}
	}
	return false
}

// fault is why a pod will not start.
func (p pod) fault() error {
	if p.Status.Phase == "Failed" || p.Status.Phase == "Succeeded" {
		return fmt.Errorf("the pod ended: %s %s", bailiff.Foreign(p.Status.Reason), bailiff.Foreign(p.waiting()))
	}
	for _, c := range append(p.Status.InitContainerStatuses, p.Status.ContainerStatuses...) {
		if w := c.State.Waiting; w != nil && strings.HasPrefix(w.Reason, "CreateContainer") || w != nil && w.Reason == "InvalidImageName" ||
			w != nil && w.Reason == "ImagePullBackOff" {
			return fmt.Errorf("container %s: %s: %s", c.Name, w.Reason, bailiff.Foreign(w.Message))
		}
	}
	return nil
}

// waiting says what the pod's containers wait for, or ended with.
func (p pod) waiting() string {
	text := p.Status.Message
	for _, c := range append(p.Status.InitContainerStatuses, p.Status.ContainerStatuses...) {
		switch {
		case c.State.Waiting != nil:
			text += fmt.Sprintf(" %s: %s %s;", c.Name, c.State.Waiting.Reason, c.State.Waiting.Message)
		case c.State.Terminated != nil && c.State.Terminated.ExitCode != 0:
			text += fmt.Sprintf(" %s: ended with %d %s;", c.Name, c.State.Terminated.ExitCode, c.State.Terminated.Message)
		}
	}
	return strings.TrimSpace(text)
}
