package wire

// RootBundles are where images keep the certificates that programs trust, the first that
// is there counts. Of the others, those that an image has lead to it, as a rule.
var RootBundles = []string{
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
	"/etc/ssl/ca-bundle.pem",
	"/etc/ssl/cert.pem",
}

// A backend that can have programs trust an outlet's certificate without a variable puts a
// file of the sandbox's own in the place of the image's bundle, or a link to TrustBundle,
// which the runner writes.
const (
	// ImageRoots is where it keeps the image's bundle then, if the file is the sandbox's own:
	// the runner writes to it.
	ImageRoots = "/.bailiff/roots.pem"
	// KeptRoots ends the name of the image's bundle where a link is in its place.
	KeptRoots = ".image"
	// TrustFolder and TrustBundle are where the runner keeps certificates.
	TrustFolder = "/run/bailiff"
	TrustBundle = TrustFolder + "/bundle.pem"
)
