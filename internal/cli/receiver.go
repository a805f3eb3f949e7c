package cli

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"dray/internal/app"
	"dray/internal/webhook"
)

// certificateLifetime is the validity of the receiver's certificate.
const certificateLifetime = 90 * 24 * time.Hour

func webhookReceiverCommand() command {
	return command{
		name: "webhook receiver", summary: "Run an HTTPS server that prints the webhooks it receives",
		endless:  true,
		examples: []string{"dray webhook receiver --listen 127.0.0.1:9443 --secret HEX"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			address := f.String("listen", "127.0.0.1:9443", "`address` to listen on")
			folder := f.String("folder", "dray-receiver", "`folder` for the certificate")
			secret := f.String("secret", "", "webhook `secret` of the organization, to verify signatures")
			return func(ctx context.Context, inv *invocation) error {
				key, err := hex.DecodeString(*secret)
				if err != nil {
					return usageErrorf("--secret must be hexadecimal digits")
				}
				if *secret == "" {
					key = nil
				}
				return receive(ctx, inv, *address, *folder, &webhook.Receiver{Secret: key, Out: inv.out, JSON: inv.json})
			}
		},
	}
}

// receive serves a receiver until ctx ends.
func receive(ctx context.Context, inv *invocation, address, folder string, handler http.Handler) error {
	certificate, authority, err := newCertificate(folder)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	server := app.NewServer(handler)
	server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	fmt.Fprintf(inv.errs, "Receiving at https://%s/\nStart the server with: --webhook-ca-file %s --webhook-allow-cidr 127.0.0.1/32\n", listener.Addr(), authority)
	stopped := context.AfterFunc(ctx, func() { server.Close() })
	defer stopped()
	if err := server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// newCertificate creates a certificate for localhost and the authority that
// signs it, and writes the authority's certificate to the folder. The
// authority's key is discarded.
func newCertificate(folder string) (tls.Certificate, string, error) {
	none := tls.Certificate{}
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return none, "", err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return none, "", err
	}
	now := time.Now()
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "Dray test receiver"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLifetime),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	server := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano() + 1), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: authority.NotBefore, NotAfter: authority.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	authorityDER, err := x509.CreateCertificate(rand.Reader, authority, authority, &authorityKey.PublicKey, authorityKey)
	if err != nil {
		return none, "", err
	}
	serverDER, err := x509.CreateCertificate(rand.Reader, server, authority, &key.PublicKey, authorityKey)
	if err != nil {
		return none, "", err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return none, "", err
	}
	file := filepath.Join(folder, "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authorityDER})
	return tls.Certificate{Certificate: [][]byte{serverDER}, PrivateKey: key}, file, os.WriteFile(file, text, 0o644)
}
