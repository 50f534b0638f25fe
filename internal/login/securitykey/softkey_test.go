package securitykey

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"
)

// softKey is a security key whose secret is here: it does what a test wants, where a real one would refuse.
type softKey struct {
	secret  *ecdsa.PrivateKey
	id      []byte
	counter uint32
}

func newSoftKey(t *testing.T) *softKey {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	id := make([]byte, 32)
	_, _ = rand.Read(id) // never fails
	return &softKey{secret: secret, id: id}
}

// asked is what options ask for, as a browser reads them.
type asked struct {
	Challenge string `json:"challenge"`
}

func challengeOf(t *testing.T, options any) string {
	t.Helper()
	text, err := json.Marshal(options)
	must(t, err)
	var a asked
	must(t, json.Unmarshal(text, &a))
	if a.Challenge == "" {
		t.Fatalf("there is no challenge in %s", text)
	}
	return a.Challenge
}

func encoded(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// clientData is what the browser says of the page that asked.
func clientData(kind, challenge, origin string) []byte {
	text, err := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": origin, "crossOrigin": false})
	if err != nil {
		panic(err) // plain text: cannot fail
	}
	return text
}

// The flags of what a key says: its owner touched it; a public key follows.
const (
	present  = 0x01
	attested = 0x40
)

func (k *softKey) authData(site string, flags byte) []byte {
	hash := sha256.Sum256([]byte(site))
	return binary.BigEndian.AppendUint32(append(hash[:], flags), k.counter)
}

// create is the response to options of a registration.
func (k *softKey) create(t *testing.T, site, challenge, origin string) []byte {
	t.Helper()
	public, err := k.secret.PublicKey.Bytes()
	must(t, err)
	data := append(k.authData(site, present|attested), make([]byte, 16)...) // of no make
	data = binary.BigEndian.AppendUint16(data, uint16(len(k.id)))           //nolint:gosec // 32
	data = append(data, k.id...)
	data = append(data, 0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20) // a COSE key of P-256
	data = append(data, public[1:33]...)
	data = append(data, 0x22, 0x58, 0x20)
	data = append(data, public[33:]...)
	object := append([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58"), byte(len(data)))
	return k.response(t, map[string]any{"clientDataJSON": encoded(clientData("webauthn.create", challenge, origin)),
		"attestationObject": encoded(append(object, data...)), "transports": []string{"usb"}})
}

// get is the response to options that ask for a key.
func (k *softKey) get(t *testing.T, site, challenge, origin string) []byte {
	t.Helper()
	k.counter++
	data, client := k.authData(site, present), clientData("webauthn.get", challenge, origin)
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(append(append([]byte{}, data...), hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, k.secret, digest[:])
	must(t, err)
	return k.response(t, map[string]any{"clientDataJSON": encoded(client), "authenticatorData": encoded(data),
		"signature": encoded(signature)})
}

func (k *softKey) response(t *testing.T, response map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{"id": encoded(k.id), "rawId": encoded(k.id), "type": "public-key", "response": response,
		"clientExtensionResults": map[string]any{}})
	must(t, err)
	return text
}

// must ends a test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
