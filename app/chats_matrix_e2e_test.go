package app

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/chat/matrix/matrixtest"
	"github.com/bailiff-dev/bailiff/gateway/chat/webhook"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
	"github.com/bailiff-dev/bailiff/internal/tests/porttest"
)

func saysAll(m matrixtest.Message, words ...string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(m.Text, w) })
}

func oneSays(words ...string) func([]matrixtest.Message) bool {
	return func(all []matrixtest.Message) bool {
		return slices.ContainsFunc(all, func(m matrixtest.Message) bool { return saysAll(m, words...) })
	}
}

// awaitAlone is the room in which bailiff tells somebody something alone.
func awaitAlone(t *testing.T, p *matrixtest.Person) string {
	t.Helper()
	var rooms []string
	awaittest.Until(t, "something is told to "+p.ID+" alone", func() bool { rooms = p.Invitations(); return len(rooms) == 1 })
	p.Join(rooms[0])
	return rooms[0]
}

func TestAtMatrixACommandInAThreadIsApprovedInARoomAndAnswered(t *testing.T) {
	t.Parallel()
	folder, server := openDir(t), matrixtest.New(t)
	ana, ben, eve := server.Person("ana"), server.Person("ben"), server.Person("eve")
	ops, dev := server.Room("ops", "ben", "ana", "eve"), server.Room("dev", "ana", "eve")
	save(t, filepath.Join(folder, "token"), matrixtest.Token)
	_, house := withHouse(t, houseAsksAboutMarked)
	text := fmt.Sprintf(`state_dir: state
agent: {listeners: [{name: test, listen: "unix://%[1]s/a.sock", uids: [4242]}]}
operator: {listen: "unix://%[1]s/o.sock"}
people: [{name: ana, matrix: [%[2]q]}, {name: ben, matrix: [%[3]q]}]
matrix: {url: %[4]q, token: {file: token}, approvals: %[5]q, allowed_users: [%[2]q]}
metrics: {listen: "127.0.0.1:0"}
runner: {path: %[6]s}
backends: {bubblewrap: {}}
`, openDir(t), ana.ID, ben.ID, server.URL(), ops, backendtest.Runner(t)) + house
	if _, err := tryServe(t, folder, text); err != nil {
		t.Fatal(err)
	}
	awaitCalls(t, server, "sync", 2)
	root := ana.Write(dev, "", "@bailiff echo '<it>' ran # marked")
	asked := ben.Await(ops, func(all []matrixtest.Message) bool {
		return oneSays("is asked for", "echo '<it>' ran # marked")(all) && len(all[0].Signs) > 1
	})[0]
	knows(t, folder, asked.ID)
	for who, want := range map[*matrixtest.Person]string{ana: "ana asked for it; ask ben", eve: "belongs to no person in people; ask ben"} {
		who.React(ops, asked.ID, "✅")
		who.Await(awaitAlone(t, who), oneSays(want))
	}
	ben.React(ops, asked.ID, "✅")
	done := ana.Await(dev, oneSays("<it> ran"))
	if last := done[len(done)-1]; last.Thread != root {
		t.Errorf("the answer is %+v", last)
	}
	ben.Await(ops, oneSays("approved by ben"))
	ana.Write(dev, root, "echo again # marked")
	second := ben.Await(ops, oneSays("is asked for", "echo again"))
	knows(t, folder, second[len(second)-1].ID)
	ben.Reply(ops, second[len(second)-1].ID, "deny because it is Monday")
	ana.Await(dev, oneSays("Denied by ben: it is Monday"))
	ana.Write(dev, root, "!status")
	ana.Await(dev, oneSays("bubblewrap"))
}

// knows waits until the sidecar has kept which question a message asks, a moment after it is shown: a sign or a word that
// comes before is not taken.
func knows(t *testing.T, folder, message string) {
	t.Helper()
	awaittest.Until(t, "the message to be known", func() bool {
		posts, err := filepath.Glob(filepath.Join(folder, "state", "chat", "*", "posts", "*"))
		must(t, err)
		return slices.ContainsFunc(posts, func(file string) bool {
			text, _ := os.ReadFile(file) // one that is just being replaced holds nothing
			return strings.Contains(string(text), message)
		})
	})
}

func awaitCalls(t *testing.T, server *matrixtest.Server, method string, n int) {
	t.Helper()
	awaittest.Until(t, method, func() bool { return server.Calls(method) >= n })
}

// bridged is what a bridge was sent.
type bridged struct {
	Type, Key, Message, Text string
	Buttons                  []struct{ Token, Word, Label string }
}

func TestByAWebhookAnApprovalIsAnsweredAndItsEndIsTold(t *testing.T) {
	t.Parallel()
	sent := make(chan bridged, 100)
	bridge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n bridged
		if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
			t.Error(err)
		}
		sent <- n
		_, _ = io.WriteString(w, `{"message": "m1"}`)
	}))
	t.Cleanup(bridge.Close)
	at := porttest.Address(t)
	folder, server := openDir(t), matrixtest.New(t)
	ana := server.Person("ana")
	dev := server.Room("dev", "ana")
	save(t, filepath.Join(folder, "token"), matrixtest.Token)
	save(t, filepath.Join(folder, "secret"), "sesame-4711-and-more")
	_, house := withHouse(t, houseAsksAboutMarked)
	text := fmt.Sprintf(`state_dir: state
agent: {listeners: [{name: test, listen: "unix://%[1]s/a.sock", uids: [4242]}]}
operator: {listen: "unix://%[1]s/o.sock"}
people: [{name: ana, matrix: [%[2]q]}, {name: ben, webhook: [b3n]}]
matrix: {url: %[3]q, token: {file: token}, allowed_users: [%[2]q]}
webhook: {url: %[4]q, secret: {file: secret}, listen: %[5]q}
metrics: {listen: "127.0.0.1:0"}
runner: {path: %[6]s}
backends: {bubblewrap: {}}
`, openDir(t), ana.ID, server.URL(), bridge.URL, at, backendtest.Runner(t)) + house
	if _, err := tryServe(t, folder, text); err != nil {
		t.Fatal(err)
	}
	awaitCalls(t, server, "sync", 2)
	ana.Write(dev, "", "@bailiff echo it ran # marked")
	asked := <-sent
	if asked.Type != "post" || !strings.Contains(asked.Text, "echo it ran # marked") || len(asked.Buttons) < 2 {
		t.Fatalf("it was sent %+v", asked)
	}
	answers := "http://" + at + "/answers"
	// The sidecar knows its message once it has read what the bridge answered.
	awaittest.Until(t, "the message to be known", func() bool {
		forged := map[string]string{"id": rand.Text(), "user": "b3n", "message": "m1", "word": "forged"}
		return !strings.Contains(answerBy(t, answers, "sesame-4711-and-more", forged), "Answer again in a moment")
	})
	for _, c := range []struct {
		answer map[string]string
		told   string
	}{
		{map[string]string{"id": "1", "user": "eve", "token": asked.Buttons[0].Token}, "webhook:eve belongs to no person in people"},
		{map[string]string{"id": "2", "user": "b3n", "token": "forged"}, "This is no approval of mine"},
		{map[string]string{"id": "3", "user": "b3n", "message": "m1", "word": asked.Buttons[0].Word}, "You approved"},
		{map[string]string{"id": "3", "user": "b3n", "token": asked.Buttons[0].Token}, "repeated"},
		{map[string]string{"id": "4", "user": "b3n", "token": asked.Buttons[1].Token}, "Too late"},
	} {
		if told := answerBy(t, answers, "sesame-4711-and-more", c.answer); !strings.Contains(told, c.told) {
			t.Errorf("%v is told %s", c.answer, told)
		}
	}
	ana.Await(dev, oneSays("it ran"))
	for edit := range sent {
		if edit.Type == "edit" && edit.Message == "m1" && strings.Contains(edit.Text, "approved by ben") && len(edit.Buttons) == 0 {
			break
		}
	}
}

// answerBy signs and sends an answer, and returns what is told.
func answerBy(t *testing.T, url, secret string, answer any) string {
	t.Helper()
	body, _ := json.Marshal(answer)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	must(t, err)
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	r.Header.Set("Bailiff-Timestamp", stamp)
	r.Header.Set("Bailiff-Signature", webhook.Sign(bailiff.NewSecret(secret), stamp, body))
	response, err := http.DefaultClient.Do(r)
	must(t, err)
	defer response.Body.Close()
	told, _ := io.ReadAll(response.Body)
	return string(told)
}
