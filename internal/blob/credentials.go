package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/encoding/httpbinding"
)

// renewBefore is the time before their expiry at which the credentials of a role are renewed.
const renewBefore = 5 * time.Minute

// containerHost serves the credentials of containers at a relative URI.
const containerHost = "http://169.254.170.2"

// newCredentials returns a cache of credentials. Their source is chosen by the environment
// variables that Amazon's own programs read, in the same order: keys in the environment, a web
// identity token, the endpoint of a container, and the role of the machine.
func newCredentials(getenv func(string) string, region string) (*aws.CredentialsCache, error) {
	provider, err := newProvider(getenv, region)
	if err != nil {
		return nil, err
	}
	return aws.NewCredentialsCache(provider, func(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = renewBefore }), nil
}

func newProvider(getenv func(string) string, region string) (aws.CredentialsProvider, error) {
	id, secret := getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY")
	switch {
	case id != "" && secret != "":
		return credentials.NewStaticCredentialsProvider(id, secret, getenv("AWS_SESSION_TOKEN")), nil
	case id != "" || secret != "":
		return nil, errors.New("set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, or neither to use a role")
	case getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "":
		return webIdentity(getenv, region)
	case getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != "":
		return container(getenv, containerHost+getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")), nil
	case getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI") != "":
		uri := getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
		if !trustworthy(uri) {
			return nil, fmt.Errorf("AWS_CONTAINER_CREDENTIALS_FULL_URI must be an https URL or one of this machine, not %q", uri)
		}
		return container(getenv, uri), nil
	case strings.EqualFold(getenv("AWS_EC2_METADATA_DISABLED"), "true"):
		return nil, errors.New("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment: the role of the machine is not used, because AWS_EC2_METADATA_DISABLED is set")
	}
	return ec2rolecreds.New(func(o *ec2rolecreds.Options) {
		o.Client = imds.New(imds.Options{Endpoint: getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT")})
	}), nil
}

// webIdentity returns a provider that exchanges the token in a file, which the cluster renews,
// for credentials of a role.
func webIdentity(getenv func(string) string, region string) (aws.CredentialsProvider, error) {
	role := getenv("AWS_ROLE_ARN")
	if role == "" {
		return nil, errors.New("set AWS_ROLE_ARN together with AWS_WEB_IDENTITY_TOKEN_FILE")
	}
	options := sts.Options{Region: region}
	if own := getenv("AWS_REGION"); own != "" {
		options.Region = own
	}
	if endpoint := getenv("AWS_ENDPOINT_URL_STS"); endpoint != "" {
		options.BaseEndpoint = &endpoint
	}
	file := stscreds.IdentityTokenFile(getenv("AWS_WEB_IDENTITY_TOKEN_FILE"))
	return stscreds.NewWebIdentityRoleProvider(sts.New(options), role, file, func(o *stscreds.WebIdentityRoleOptions) {
		o.RoleSessionName = getenv("AWS_ROLE_SESSION_NAME")
	}), nil
}

// container returns a provider that fetches credentials from the endpoint that a container
// service offers to its containers.
func container(getenv func(string) string, uri string) aws.CredentialsProvider {
	return endpointcreds.New(uri, func(o *endpointcreds.Options) {
		o.AuthorizationToken = getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN")
		if file := getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
			o.AuthorizationTokenProvider = endpointcreds.TokenProviderFunc(func() (string, error) {
				token, err := os.ReadFile(file) // each time, because the token is renewed
				return string(token), err
			})
		}
	})
}

// trustworthy reports whether credentials may be fetched from a URI: over TLS,
// from this machine, or from an address that container services use.
func trustworthy(uri string) bool {
	u, err := url.Parse(uri)
	if err != nil || u.Host == "" {
		return false
	}
	switch host := u.Hostname(); {
	case u.Scheme == "https":
		return true
	case u.Scheme != "http":
		return false
	case host == "localhost", host == "169.254.170.2", host == "169.254.170.23", host == "fd00:ec2::23":
		return true
	default:
		address, err := netip.ParseAddr(host)
		return err == nil && address.IsLoopback()
	}
}

// sign adds the headers of signature version 4 to a request. Headers that are set later are not
// signed, so that proxies may add some.
func sign(r *http.Request, body []byte, c aws.Credentials, region string, now time.Time) error {
	sum := sha256.Sum256(body)
	digest := hex.EncodeToString(sum[:])
	r.Header.Set("X-Amz-Content-Sha256", digest)
	r.URL.RawPath = httpbinding.EscapePath(r.URL.Path, false) // the encoding that the service uses to verify
	return v4.NewSigner().SignHTTP(r.Context(), c, r, digest, "s3", region, now, func(o *v4.SignerOptions) {
		o.DisableURIPathEscaping = true // the path is already encoded
	})
}
