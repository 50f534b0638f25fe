// Package charts_test tries the chart with helm and against a real API server. "make kubernetes-test" runs it beside one.
package charts_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	chart     = "bailiff"
	space     = "prod"
	inSpace   = "bailiff-sandboxes"
	ofNothing = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
)

// run runs a program, and returns what it prints and whether it did what it was told.
func run(t *testing.T, input string, line ...string) (printed string, done bool) {
	t.Helper()
	command := exec.Command(line[0], line[1:]...)
	command.Stdin = strings.NewReader(input)
	out, err := command.CombinedOutput()
	return string(out), err == nil
}

// must runs a program that has to do what it is told.
func must(t *testing.T, input string, line ...string) string {
	t.Helper()
	printed, done := run(t, input, line...)
	if !done {
		t.Fatalf("%v:\n%s", line, printed)
	}
	return printed
}

// rendered are the manifests of one of the files of values, and more settings.
func rendered(t *testing.T, values string, more ...string) string {
	t.Helper()
	command := exec.Command("helm", append([]string{"template", "bailiff", chart, "--namespace", space, "--kube-version", "v1.36.3",
		"--values", filepath.Join("testdata", values+".yaml")}, more...)...)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v", values, err)
	}
	return string(out)
}

func TestEachServerTakesWhatIsRendered(t *testing.T) {
	must(t, "", "kubectl", "apply", "-f", "testdata/crds.yaml")
	must(t, "", "kubectl", "wait", "--for=condition=Established", "crd/servicemonitors.monitoring.coreos.com",
		"crd/prometheusrules.monitoring.coreos.com")
	for _, namespace := range []string{space, inSpace} {
		must(t, "", "kubectl", "create", "namespace", namespace)
		defer must(t, "", "kubectl", "delete", "namespace", namespace)
	}
	for _, values := range []string{"one", "fleet", "policies"} {
		must(t, "", "helm", "lint", chart, "--strict", "--values", filepath.Join("testdata", values+".yaml"))
		for _, more := range [][]string{nil, {"--set", "sandboxes.enabled=false"}, {"--set", "monitoring.rules=true"}} {
			must(t, rendered(t, values, more...), "kubectl", "apply", "--dry-run=server", "-f", "-")
		}
	}
}

// image makes the image of the Dockerfile, and returns its digest.
func image(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, program := range []string{"bailiff", "bailiff-runner", "bailiff-host"} {
		must(t, "", "install", "-D", filepath.Join("../bin", program), filepath.Join(folder, "usr/local/bin", program))
	}
	must(t, "", "install", "-d", "-m", "1777", filepath.Join(folder, "tmp"))
	name := must(t, "", os.Getenv("BAILIFF_TEST_KUBERNETES_IMPORT"), "bailiff.test/bailiff", folder,
		"/usr/local/bin/bailiff", "serve", "--config", "/etc/bailiff/bailiff.yaml")
	return strings.TrimPrefix(strings.TrimSpace(name), "bailiff.test/bailiff@")
}

// left are the objects of the release that the cluster has.
func left(t *testing.T) string {
	t.Helper()
	kinds := "all,configmap,secret,serviceaccount,networkpolicy,poddisruptionbudget,resourcequota,role,rolebinding,clusterrole," +
		"clusterrolebinding,validatingadmissionpolicy,validatingadmissionpolicybinding,namespace"
	return must(t, "", "kubectl", "get", kinds, "-A", "-l", "app.kubernetes.io/instance=bailiff", "-o", "name")
}

func TestARelease(t *testing.T) {
	must(t, "", "kubectl", "create", "namespace", space)
	defer must(t, "", "kubectl", "delete", "namespace", space)
	must(t, "", "kubectl", "create", "secret", "generic", "agents", "-n", space, "--from-literal=token=0123456789abcdef0123")
	digest := image(t)
	install := []string{"helm", "upgrade", "--install", "bailiff", chart, "--namespace", space, "--values", "testdata/one.yaml", "--wait",
		"--timeout", "120s", "--set", "image.digest=" + digest, "--set", "config.backends.kubernetes.image=" +
			os.Getenv("BAILIFF_TEST_KUBERNETES_IMAGE")}
	if printed, done := run(t, "", install...); !done {
		told, _ := run(t, "", "kubectl", "describe", "pod", "-n", space, "bailiff-0")
		logged, _ := run(t, "", "kubectl", "logs", "-n", space, "bailiff-0")
		t.Fatalf("%s\n%s\n%s", printed, told, logged)
	}
	said := must(t, "", "kubectl", "exec", "-n", space, "bailiff-0", "--", "/usr/local/bin/bailiff", "status")
	if !strings.Contains(said, "agents") {
		t.Errorf("the replica has no listener for agents:\n%s", said)
	}
	ran := must(t, "", "kubectl", "exec", "-n", space, "bailiff-0", "--", "/usr/local/bin/bailiff", "exec", "--listen",
		"tcp://127.0.0.1:8640", "--token-file", "/etc/bailiff/agents.token", "--platform", "telegram", "--",
		"echo in a pod; cat /proc/net/dev")
	if !strings.Contains(ran, "in a pod") || !strings.Contains(ran, "lo:") || strings.Contains(ran, "eth0") {
		t.Errorf("a command in a sandbox prints\n%s", ran)
	}
	t.Run("is upgraded", func(t *testing.T) { must(t, "", append(install, "--set", "config.approvals.timeout=1m")...) })
	t.Run("has an account that makes nothing but sandboxes", func(t *testing.T) { stolen(t, digest) })
	must(t, "", "helm", "uninstall", "bailiff", "--namespace", space, "--wait")
	if objects := left(t); strings.TrimSpace(objects) != "" {
		t.Errorf("there are still\n%s", objects)
	}
}

// thief is who has the account's token: kubectl with nothing else.
func thief(t *testing.T) func(input string, line ...string) (string, bool) {
	t.Helper()
	token := strings.TrimSpace(must(t, "", "kubectl", "create", "token", "bailiff", "-n", space))
	begin := []string{"kubectl", "--kubeconfig", "/dev/null", "--server", "https://10.99.0.1", "--token", token,
		"--certificate-authority", filepath.Join(os.Getenv("BAILIFF_TEST_KUBERNETES"), "keys/ca.crt")}
	return func(input string, line ...string) (string, bool) { return run(t, input, append(begin, line...)...) }
}

// sandbox is a pod as the backend makes it, after a change.
func sandbox(t *testing.T, digest, change string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/sandbox.json")
	if err != nil {
		t.Fatal(err)
	}
	images := strings.NewReplacer("SYSTEM", "bailiff.test/bailiff@"+digest, "SANDBOX", os.Getenv("BAILIFF_TEST_KUBERNETES_IMAGE"))
	pod := images.Replace(string(text))
	if change == "" {
		return pod
	}
	return must(t, pod, "kubectl", "patch", "--local", "-f", "-", "--type=json", "-o", "json", "-p", change)
}

func stolen(t *testing.T, digest string) {
	ask := thief(t)
	if printed, done := ask(sandbox(t, digest, ""), "create", "-f", "-"); !done {
		t.Fatalf("a sandbox is refused: %s", printed)
	}
	for _, c := range refusedPods {
		printed, done := ask(sandbox(t, digest, c.change), "create", "--dry-run=server", "-f", "-")
		if done || !strings.Contains(printed, c.why) {
			t.Errorf("%s, want a refusal with %q:\n%s", c.change, c.why, printed)
		}
	}
	const claim = `{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "` + inSpace + `"},
		"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}CHANGE}}`
	for change, refused := range map[string]bool{"": false, `, "volumeName": "of-a-node"`: true,
		`, "selector": {"matchLabels": {"a": "b"}}`: true} {
		printed, done := ask(strings.Replace(claim, "CHANGE", change, 1), "create", "--dry-run=server", "-f", "-")
		if done == refused || refused && !strings.Contains(printed, claimsRule) {
			t.Errorf("a claim with %q:\n%s", change, printed)
		}
	}
	for _, line := range [][]string{
		{"get", "secrets", "-n", space}, {"get", "secrets", "-n", inSpace}, {"get", "secrets", "-n", "kube-system"},
		{"get", "configmaps", "-n", inSpace},
		{"get", "pods", "-n", space}, {"get", "nodes"}, {"create", "token", "default", "-n", inSpace},
		{"create", "--raw", "/api/v1/namespaces/" + inSpace + "/pods/s/attach?container=sandbox&stdout=true", "-f", "/dev/null"},
		{"patch", "pod", "s", "-n", inSpace, "-p", `{"metadata": {"labels": {"a": "b"}}}`}, {"logs", "s", "-n", inSpace},
		{"create", "namespace", "mine"}, {"delete", "networkpolicy", "bailiff-none", "-n", inSpace},
		{"delete", "validatingadmissionpolicy", "prod-bailiff-sandboxes"}, {"get", "--raw", "/api/v1/nodes/node/proxy/pods"},
	} {
		if printed, done := ask("", line...); done || !strings.Contains(printed, "forbidden") {
			t.Errorf("%v was not forbidden:\n%s", line, printed)
		}
	}
	for verb, want := range map[string]string{
		"get secrets": "no", "patch pods": "no", "create pods": "yes", "escalate roles": "no",
		"create pods --subresource=attach": "no", "create pods --subresource=exec": "yes",
		"create pods --subresource=portforward": "no", "create pods --subresource=ephemeralcontainers": "no",
	} {
		line := append([]string{"auth", "can-i", "-n", inSpace}, strings.Fields(verb)...)
		if printed, _ := ask("", line...); strings.TrimSpace(printed) != want {
			t.Errorf("can-i %s: %s, want %s", verb, printed, want)
		}
	}
}

// refusedPods are changes to a sandbox, as JSON patches, with a word of why each is refused.
var refusedPods = []struct{ change, why string }{
	{`[{"op": "remove", "path": "/metadata/labels"}]`, "with the label bailiff.dev/owner"},
	{`[{"op": "add", "path": "/spec/hostNetwork", "value": true}, {"op": "remove", "path": "/spec/securityContext/sysctls"}]`,
		"shares no namespace"},
	{`[{"op": "add", "path": "/spec/hostPID", "value": true}]`, "shares no namespace"},
	{`[{"op": "add", "path": "/spec/shareProcessNamespace", "value": true}]`, "shares no namespace"},
	{`[{"op": "replace", "path": "/spec/automountServiceAccountToken", "value": true}]`, "no service account's token"},
	{`[{"op": "replace", "path": "/spec/restartPolicy", "value": "Always"}]`, "ends by itself"},
	{`[{"op": "remove", "path": "/spec/activeDeadlineSeconds"}]`, "ends by itself"},
	{`[{"op": "replace", "path": "/spec/activeDeadlineSeconds", "value": 100000}]`, "ends by itself"},
	{`[{"op": "add", "path": "/spec/nodeName", "value": "node"}]`, "chooses no node"},
	{`[{"op": "add", "path": "/spec/volumes/0", "value": {"name": "root", "hostPath": {"path": "/"}}}]`, "claims and empty folders only"},
	{`[{"op": "add", "path": "/spec/volumes/0", "value": {"name": "key", "secret": {"secretName": "agents"}}}]`,
		"claims and empty folders only"},
	{`[{"op": "remove", "path": "/spec/securityContext/seccompProfile"}]`, "RuntimeDefault"},
	{`[{"op": "replace", "path": "/spec/securityContext/sysctls/0/name", "value": "net.ipv4.ping_group_range"}]`, "sets no sysctl"},
	{`[{"op": "add", "path": "/spec/containers/0/securityContext/allowPrivilegeEscalation", "value": true}]`, "may become more"},
	{`[{"op": "replace", "path": "/spec/containers/0/securityContext", "value": {"privileged": true}}]`, "is privileged"},
	{`[{"op": "add", "path": "/spec/containers/0/securityContext/capabilities/add", "value": ["NET_ADMIN"]}]`, "drops all capabilities"},
	{`[{"op": "replace", "path": "/spec/initContainers/0/securityContext/capabilities/add", "value": ["SYS_ADMIN"]}]`,
		"drops all capabilities"},
	{`[{"op": "replace", "path": "/spec/initContainers/0/image", "value": "x@` + ofNothing + `"}]`, "of bailiff's image"},
	{`[{"op": "replace", "path": "/spec/initContainers/0/command", "value": ["sh"]}]`, "with its program"},
	{`[{"op": "remove", "path": "/spec/initContainers/0"}, {"op": "replace", "path": "/spec/containers/0/name", "value": "bring"},
		{"op": "replace", "path": "/spec/containers/0/securityContext/readOnlyRootFilesystem", "value": true},
		{"op": "add", "path": "/spec/containers/0/securityContext/capabilities/add", "value": ["SYS_ADMIN"]}]`, "drops all capabilities"},
	{`[{"op": "add", "path": "/spec/initContainers/0/volumeMounts", "value": [{"name": "folder", "mountPath": "/usr/local/bin"}]}]`,
		"with its program"},
	{`[{"op": "add", "path": "/spec/initContainers/0/args", "value": ["x"]}]`, "with its program"},
	{`[{"op": "add", "path": "/spec/nodeSelector", "value": {"a": "b"}}]`, "chooses no node"},
	{`[{"op": "add", "path": "/spec/containers/0/securityContext/appArmorProfile", "value": {"type": "Unconfined"}}]`,
		"by AppArmor and SELinux"},
	{`[{"op": "replace", "path": "/spec/containers/0/securityContext/runAsUser", "value": 0}]`, "but bring is root's"},
	{`[{"op": "replace", "path": "/spec/containers/0/securityContext/runAsNonRoot", "value": false}]`, "but bring is root's"},
	{`[{"op": "add", "path": "/spec/containers/0/envFrom", "value": [{"secretRef": {"name": "agents"}}]}]`, "no variables from elsewhere"},
	{`[{"op": "add", "path": "/spec/containers/0/livenessProbe", "value": {"httpGet": {"host": "169.254.169.254", "port": 80}}}]`,
		"no probes"},
	{`[{"op": "remove", "path": "/spec/containers/0/resources/limits/memory"}]`, "bounds for memory"},
	{`[{"op": "replace", "path": "/spec/containers/0/image", "value": "debian:12"}]`, "named by their digests"},
	{`[{"op": "add", "path": "/spec/runtimeClassName", "value": "other"}]`, "RuntimeClass"},
}

// The cases above are of every rule of the policy, so that one which is taken out is missed.
func TestEachRuleIsTried(t *testing.T) {
	must(t, rendered(t, "one"), "kubectl", "create", "--dry-run=client", "--validate=false", "-o", "name", "-f", "-")
	listed := must(t, rendered(t, "one"), "kubectl", "create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-")
	decoder := json.NewDecoder(strings.NewReader(listed))
	for decoder.More() {
		var object struct {
			Kind string
			Spec struct{ Validations []struct{ Message string } }
		}
		if err := decoder.Decode(&object); err != nil {
			t.Fatal(err)
		}
		for _, rule := range object.Spec.Validations {
			if object.Kind == "ValidatingAdmissionPolicy" && !tried(rule.Message) {
				t.Errorf("nothing is refused by the rule %q", rule.Message)
			}
		}
	}
}

// claimsRule is what the rule of claims says.
const claimsRule = "names no volume"

func tried(message string) bool {
	if strings.Contains(message, claimsRule) {
		return true
	}
	for _, c := range refusedPods {
		if strings.Contains(message, c.why) {
			return true
		}
	}
	return false
}
