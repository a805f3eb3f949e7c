package blob_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"dray/internal/blob"
)

// issuer simulates the services that issue credentials: the metadata service of instances, the
// endpoint of containers, and the token service.
type issuer struct {
	mu       sync.Mutex
	keys     keys
	lifetime time.Duration // of issued credentials
	down     bool
	issued   int

	token string // token that containers and clusters must send
}

const metadataToken = "metadata-token"

// ServeHTTP implements http.Handler.
func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	const roles = "/latest/meta-data/iam/security-credentials/"
	switch {
	case i.down:
		http.Error(w, "down", http.StatusForbidden)
	case r.Method == http.MethodPut && r.URL.Path == "/latest/api/token" && r.Header.Get("X-Aws-Ec2-Metadata-Token-Ttl-Seconds") != "":
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
		fmt.Fprint(w, metadataToken)
	case strings.HasPrefix(r.URL.Path, "/latest/") && r.Header.Get("X-Aws-Ec2-Metadata-Token") != metadataToken:
		http.Error(w, "version 2 is required", http.StatusUnauthorized)
	case r.URL.Path == roles:
		fmt.Fprint(w, "uploader")
	case r.URL.Path == roles+"uploader", r.URL.Path == "/container" && r.Header.Get("Authorization") == i.token:
		i.issued++
		fmt.Fprintf(w, `{"Code":"Success","AccessKeyId":%q,"SecretAccessKey":%q,"Token":%q,"Expiration":%q}`,
			i.keys.id, i.keys.secret, i.keys.token, i.expiration())
	case r.Method == http.MethodPost && r.FormValue("Action") == "AssumeRoleWithWebIdentity" &&
		r.FormValue("RoleArn") == "arn:aws:iam::1:role/uploader" && r.FormValue("WebIdentityToken") == i.token:
		i.issued++
		w.Header().Set("Content-Type", "text/xml")
		fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>
			<Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey><SessionToken>%s</SessionToken><Expiration>%s</Expiration></Credentials>
			</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`, i.keys.id, i.keys.secret, i.keys.token, i.expiration())
	default:
		http.Error(w, "denied", http.StatusForbidden)
	}
}

func (i *issuer) expiration() string {
	return time.Now().Add(i.lifetime).UTC().Format(time.RFC3339)
}

// TestS3Roles uses a bucket with the credentials of each kind of role while they change.
func TestS3Roles(t *testing.T) {
	tokenFile := filepath.Join(t.TempDir(), "token")
	const loopback = "http://127.0.0.1"
	for name, env := range map[string]environment{
		"an instance":  {"AWS_EC2_METADATA_SERVICE_ENDPOINT": loopback},
		"a container":  {"AWS_CONTAINER_CREDENTIALS_FULL_URI": loopback + "/container", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "first"},
		"a pod":        {"AWS_CONTAINER_CREDENTIALS_FULL_URI": loopback + "/container", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": tokenFile},
		"web identity": {"AWS_WEB_IDENTITY_TOKEN_FILE": tokenFile, "AWS_ROLE_ARN": "arn:aws:iam::1:role/uploader", "AWS_ENDPOINT_URL_STS": loopback},
	} {
		t.Run(name, func(t *testing.T) {
			service, location := newBucket(t)
			roles := &issuer{keys: good, lifetime: time.Hour, token: "first"}
			server := httptest.NewServer(roles)
			t.Cleanup(server.Close)
			for variable, value := range env {
				env[variable] = strings.Replace(value, loopback, server.URL, 1)
			}
			writeFile(t, tokenFile, "first")
			s3 := open(t, location, env)
			put := func() error { return s3.Put(t.Context(), sample, []byte("x")) }

			for range 3 {
				if err := put(); err != nil {
					t.Fatal(err)
				}
			}
			if roles.issued != 1 {
				t.Errorf("credentials were fetched %d times, want once", roles.issued)
			}

			// The service rejects the credentials, although they have not expired.
			renewed := keys{id: "AKIASECOND", secret: "second", token: "second token"}
			service.keys, roles.keys = keys{}, renewed
			if err := put(); err == nil {
				t.Error("a bucket that denies access is taken for done")
			}
			service.keys = renewed
			if name != "a container" { // whose token is fixed
				roles.token = "second"
				writeFile(t, tokenFile, "second")
			}

			// The credentials expire: the next request fetches new ones.
			roles.keys = keys{id: "AKIAOLD", secret: "old", token: expiredToken}
			s3 = open(t, location, env)
			if err := s3.CheckCredentials(t.Context()); err != nil {
				t.Fatal(err)
			}
			roles.keys, roles.issued, service.requests = renewed, 0, 0
			if err := put(); err != nil {
				t.Errorf("after the credentials expired: %v", err)
			}
			if roles.issued != 1 || service.requests != 2 {
				t.Errorf("fetched %d times with %d requests, want once with 2", roles.issued, service.requests)
			}

			// Credentials that have expired, or are about to, are fetched again. The metadata
			// service replaces those of an instance long before they expire.
			for lifetime, exempt := range map[time.Duration]string{-time.Second: "", time.Minute: "an instance"} {
				roles.lifetime, roles.issued = lifetime, 0
				s3 = open(t, location, env)
				for range 2 {
					if err := put(); err != nil {
						t.Fatal(err)
					}
				}
				if name != exempt && roles.issued != 2 {
					t.Errorf("credentials good for %s were fetched %d times, want 2", lifetime, roles.issued)
				}
			}

			roles.down = true
			if err := open(t, location, env).CheckCredentials(t.Context()); err == nil || !strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID") {
				t.Errorf("without a role: %v", err)
			}
		})
	}
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestS3KeysComeBeforeRoles(t *testing.T) {
	_, location := newBucket(t)
	env := good.env()
	env["AWS_WEB_IDENTITY_TOKEN_FILE"], env["AWS_ROLE_ARN"] = "/none", "none"
	if err := open(t, location, env).Put(t.Context(), sample, []byte("x")); err != nil {
		t.Error(err)
	}
}

func TestS3RejectsUntrustedSources(t *testing.T) {
	for _, env := range []environment{
		{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://example.com/credentials"},
		{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://169.254.169.254/"},
		{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1.example.com/"},
		{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "file:///etc/passwd"},
		{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "127.0.0.1"},
		{"AWS_WEB_IDENTITY_TOKEN_FILE": "/token"},
	} {
		if _, err := blob.OpenS3(blob.S3Options{Location: "s3://bucket", Getenv: env.get, Now: time.Now}); err == nil {
			t.Errorf("%v is accepted", env)
		}
	}
	for _, uri := range []string{"https://example.com/", "http://localhost:51679/", "http://[::1]/", "http://169.254.170.23/v1/credentials", "http://[fd00:ec2::23]/"} {
		env := environment{"AWS_CONTAINER_CREDENTIALS_FULL_URI": uri}
		if _, err := blob.OpenS3(blob.S3Options{Location: "s3://bucket", Getenv: env.get, Now: time.Now}); err != nil {
			t.Error(err)
		}
	}
}
