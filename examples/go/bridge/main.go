// Command bridge is the other side of bailiff's webhook, for a terminal:
//
//	bridge listen ADDRESS SECRET_FILE
//	bridge answer URL SECRET_FILE USER MESSAGE WORD [REASON]
//
// The first prints what bailiff posts and edits, as JSON, a line each. The second answers
// one such message for a person, and prints what they are to be told, as in:
//
//	bridge answer http://127.0.0.1:8645/answers webhook.secret ana message-1 deny "it is prod"
//
// A bridge to a service of your own does the one where it shows messages, and the other
// where people answer them.
package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	listens := len(args) == 3 && args[0] == "listen"
	answers := (len(args) == 6 || len(args) == 7) && args[0] == "answer"
	if !listens && !answers {
		return errors.New("usage: bridge listen ADDRESS SECRET_FILE, or bridge answer URL SECRET_FILE USER MESSAGE WORD [REASON]")
	}
	secret, err := os.ReadFile(args[2])
	if err != nil {
		return err
	}
	secret = bytes.TrimSpace(secret)
	if listens {
		return newBridge(secret, os.Stdout).listen(args[1])
	}
	a := answer{ID: rand.Text(), User: args[3], Message: args[4], Word: args[5]}
	if len(args) == 7 {
		a.Reason = args[6]
	}
	told, err := a.send(args[1], secret)
	fmt.Println(told)
	return err
}

// answer is a person's to a message.
type answer struct {
	ID      string `json:"id"`
	User    string `json:"user"`
	Message string `json:"message"`
	Word    string `json:"word"`
	Reason  string `json:"reason,omitempty"`
}

// send sends it, signed, and returns what to tell the person.
func (a answer) send(url string, secret []byte) (told string, err error) {
	body, err := json.Marshal(a)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Bailiff-Timestamp", stamp)
	r.Header.Set("Bailiff-Signature", sign(secret, stamp, body))
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var said struct{ Told, Message string }
	if err := json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(&said); err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("bailiff answered %d: %s", response.StatusCode, said.Message)
	}
	return said.Told, nil
}

// notice is what bailiff sends. The rest of it is printed as it came.
type notice struct {
	Type, ID, Key, Message string
	Users                  []string
}

// bridge remembers what it saw; one that is to outlive a restart keeps it elsewhere.
type bridge struct {
	secret []byte
	out    io.Writer

	mu    sync.Mutex
	seen  map[string]bool   // ids of notices
	shown map[string]string // messages, by their keys
}

func newBridge(secret []byte, out io.Writer) *bridge {
	return &bridge{secret: secret, out: out, seen: map[string]bool{}, shown: map[string]string{}}
}

func (b *bridge) listen(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "listening at http://"+listener.Addr().String())
	server := &http.Server{Handler: b, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute}
	return server.Serve(listener)
}

func (b *bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 8<<20))
	if err != nil {
		http.Error(w, "too long", http.StatusRequestEntityTooLarge)
		return
	}
	if err := verify(b.secret, r.Header, body, time.Now()); err != nil {
		http.Error(w, `{"message": "not signed as it should be"}`, http.StatusUnauthorized)
		return
	}
	var n notice
	if err := json.Unmarshal(body, &n); err != nil || n.ID == "" {
		http.Error(w, `{"message": "this is no notice"}`, http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(b.take(n, body))
}

// sign signs a body and its time.
func sign(secret []byte, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}

// verify says what is wrong with a signature.
func verify(secret []byte, header http.Header, body []byte, now time.Time) error {
	stamp := header.Get("Bailiff-Timestamp")
	if !hmac.Equal([]byte(header.Get("Bailiff-Signature")), []byte(sign(secret, stamp, body))) {
		return errors.New("the signature is wrong")
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return errors.New("the time is wrong")
	}
	return nil
}

// take shows a notice once, whatever of it comes again, and returns the answer.
func (b *bridge) take(n notice, body []byte) any {
	b.mu.Lock()
	defer b.mu.Unlock()
	known, posted := b.shown[n.Key]
	if !b.seen[n.ID] && (n.Type == "edit" || n.Type == "post" && !posted) {
		fmt.Fprintln(b.out, string(body))
	}
	b.seen[n.ID] = true
	if n.Type != "post" {
		return struct{}{}
	}
	if !posted {
		known = fmt.Sprintf("message-%d", len(b.shown)+1)
		b.shown[n.Key] = known
	}
	return map[string]string{"message": known}
}
