package remote_test

import (
	"encoding/binary"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/network/remote"
	"github.com/bailiff-dev/bailiff/internal/network/remote/remotetest"
)

// disconnection is what a server says that ends a connection, giving a reason.
func disconnection(reason string) []byte {
	payload := binary.BigEndian.AppendUint32([]byte{1}, 11) // a disconnection, by the application
	for _, text := range []string{reason, ""} {
		payload = append(binary.BigEndian.AppendUint32(payload, uint32(len(text))), text...)
	}
	padding := 4 + (8-(len(payload)+9)%8)%8
	packet := binary.BigEndian.AppendUint32(nil, uint32(1+len(payload)+padding))
	return append(append(append(packet, byte(padding)), payload...), make([]byte, padding)...)
}

func TestOfWhatAHostSaysThatDoesNotLetUsInAShortLineIsTold(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write(append([]byte("SSH-2.0-other\r\n"), disconnection("go\x1b[2J\naway"+strings.Repeat("!", 9000))...))
			_, _ = io.Copy(io.Discard, conn)
		}
	}()
	key := filepath.Join(t.TempDir(), "key")
	remotetest.Key(t, key)
	h := host(t, remote.Config{Address: listener.Addr().String(), User: "ana", Keys: []string{key}, KnownHosts: []string{"/nowhere"}})
	_, err = h.Start(t.Context(), "true")
	if err == nil || !strings.Contains(err.Error(), `"go\x1b[2J\naway!!!`) || len(err.Error()) > 1000 {
		t.Errorf("the error is %v", err)
	}
}

func TestWhatACommandComplainsOfIsOneHarmlessLine(t *testing.T) {
	server := remotetest.Serve(t, remotetest.Options{})
	p := start(t, host(t, server.Config(server.User(t))), `printf 'no\033[2J\r\nroom\n' >&2; exit 3`)
	if status, words, err := p.Exit(); status != 3 || words != "no[2J room" || err != nil {
		t.Errorf("it ended with %d, %q, %v", status, words, err)
	}
}
