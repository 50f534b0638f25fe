package audit

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bailiff-dev/bailiff/internal/host/trust"
)

// Head says how far the log went at a time, signed by a key that the sidecar does not
// have. Kept elsewhere, it shows a log that was written anew with the log's own key.
type Head struct {
	Time time.Time `json:"time"`
	// Lines are all that were ever written; Hash is that of the last of them.
	Lines int64  `json:"lines"`
	Hash  string `json:"last_hash"`
	// Signature is empty where other sidecars were told of the head.
	Signature string `json:"signature"`
}

// text is what is signed.
func (h Head) text() []byte {
	return fmt.Appendf(nil, "bailiff head of the decision log\n%s\n%d\n%s\n", h.Time.UTC().Format(time.RFC3339Nano), h.Lines, h.Hash)
}

// SignHead signs how far the log is on disk now. The key is a file with a key of Ed25519
// as PEM (PKCS 8).
func SignHead(stateDir, keyFile string, now time.Time) (Head, error) {
	private, err := privateKey(keyFile)
	if err != nil {
		return Head{}, fmt.Errorf("reading the key that signs: %w", err)
	}
	key, err := readKey(stateDir)
	if err != nil {
		return Head{}, fmt.Errorf("signing the head of the decision log: %w", err)
	}
	known, err := readHead(headPath(stateDir), key)
	if err != nil {
		return Head{}, fmt.Errorf("signing the head of the decision log: %w", err)
	}
	h := Head{Time: now.UTC(), Lines: known.Count, Hash: known.Last}
	if h.Lines == 0 {
		h.Hash = origin
	}
	h.Signature = base64.StdEncoding.EncodeToString(ed25519.Sign(private, h.text()))
	return h, nil
}

func privateKey(file string) (ed25519.PrivateKey, error) {
	text, err := trust.Secret(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s is no PEM file: want what \"openssl genpkey -algorithm ed25519\" writes", file)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	private, ok := key.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("%s holds no private key of Ed25519: want what \"openssl genpkey -algorithm ed25519\" writes", file)
	}
	return private, nil
}

func publicKey(file string) (ed25519.PublicKey, error) {
	text, err := trust.Public(file)
	if err != nil {
		return nil, err
	}
	if block, _ := pem.Decode(text); block != nil {
		key, err := x509.ParsePKIXPublicKey(block.Bytes)
		if public, ok := key.(ed25519.PublicKey); err == nil && ok {
			return public, nil
		}
	}
	return nil, fmt.Errorf("%s holds no public key of Ed25519: want what \"openssl pkey -pubout\" writes", file)
}

// longestHead is more than a head and what a syslog writes before it have.
const longestHead = 64 << 10

// ReadHeads reads heads, a line each, that a key signed. What stands before the first "{" of
// a line is passed over, so that a syslog's lines can be given as they are. An error names
// file and line.
func ReadHeads(in io.Reader, name, keyFile string) (all []Head, err error) {
	public, err := publicKey(keyFile)
	if err != nil {
		return nil, fmt.Errorf("reading the key that heads are signed by: %w", err)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestHead)
	for number := 1; lines.Scan(); number++ {
		h, err := readSigned(lines.Bytes(), public)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, number, err)
		}
		all = append(all, h)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s holds no head of the log", name)
	}
	return all, nil
}

var errNoHead = errors.New("this is no head of the log: want a line as \"bailiff audit head\" prints it")

func readSigned(line []byte, public ed25519.PublicKey) (h Head, err error) {
	begin := bytes.IndexByte(line, '{')
	if begin < 0 || json.Unmarshal(line[begin:], &h) != nil {
		return h, errNoHead
	}
	signature, err := base64.StdEncoding.DecodeString(h.Signature)
	if err != nil || !ed25519.Verify(public, h.text(), signature) {
		return h, errors.New("the signature is not of this key, or the line was edited")
	}
	return h, nil
}

func byLines(heads []Head) map[int64][]Head {
	all := map[int64][]Head{}
	for _, h := range heads {
		all[h.Lines] = append(all[h.Lines], h)
	}
	return all
}

// given is how a head became known outside the sidecar.
func (h Head) given() string {
	how := "told to the other sidecars"
	if h.Signature != "" {
		how = "signed"
	}
	return how + " at " + h.Time.Format(time.RFC3339)
}

// hold compares what is known of so many lines with the hash of the last of them.
func (v *verification) hold(lines int64, hash string) {
	for _, h := range v.heads[lines] {
		switch {
		case h.Hash != hash:
			v.fault(v.file, v.line, fmt.Sprintf("this is line %d of the log, and not the one whose hash was %s: the log was written anew",
				lines, h.given()))
		case h.Signature == "":
			v.Told++
		default:
			v.Signed++
		}
	}
	delete(v.heads, lines)
}

// tellMissing tells of heads of lines that the log does not have.
func (v *verification) tellMissing() {
	for lines, heads := range v.heads {
		if lines < v.Retired {
			v.Older += len(heads)
			continue
		}
		v.Missing = max(v.Missing, lines-v.Retired-v.Lines)
		v.fault(v.file, v.line+1, fmt.Sprintf("the log ends after %d lines, and %d were %s: lines were cut off",
			v.Retired+v.Lines, lines, heads[0].given()))
	}
}
