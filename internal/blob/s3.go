package blob

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"

	"dray/internal/lastmile"
)

// S3 stores bytes in a bucket of a service that is compatible with S3.
type S3 struct {
	bucket      *url.URL // the endpoint, the bucket and the prefix
	region      string
	credentials *aws.CredentialsCache
	retryer     *retry.Standard
	client      *http.Client
	now         func() time.Time
}

// S3Options are the location of a bucket and how to access it.
type S3Options struct {
	// Location has the form
	//
	//	s3://bucket/prefix?region=eu-central-1&endpoint=https://minio.example.com:9000
	//
	// The default region is us-east-1, and the default endpoint is that of Amazon in the region.
	Location   string
	Getenv     func(string) string // the environment, for credentials
	Now        func() time.Time
	MaxBackoff time.Duration // longest pause between two attempts; default 3 s
}

// Limits of requests to the service.
const (
	s3Timeout          = 30 * time.Second // for all attempts together
	credentialsTimeout = 15 * time.Second // for CheckCredentials
	s3Attempts         = 4
	defaultMaxBackoff  = 3 * time.Second
	maxS3Response      = 64 << 20 // bytes
)

// OpenS3 returns the bucket at a location. It sends no requests; see CheckCredentials.
func OpenS3(o S3Options) (*S3, error) {
	u, err := url.Parse(o.Location)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("%q is not of the form s3://bucket/prefix?region=…&endpoint=https://…", o.Location)
	}
	query := u.Query()
	region := query.Get("region")
	if region == "" {
		region = "us-east-1"
	}
	address := query.Get("endpoint")
	if address == "" {
		address = "https://s3." + region + ".amazonaws.com"
	}
	endpoint, err := url.Parse(address)
	if err != nil || endpoint.Host == "" || (endpoint.Scheme != "https" && endpoint.Scheme != "http") {
		return nil, fmt.Errorf("s3: the endpoint must be an http or https URL, not %q", address)
	}
	credentials, err := newCredentials(o.Getenv, region)
	if err != nil {
		return nil, fmt.Errorf("s3: %w", err)
	}
	return &S3{
		bucket: endpoint.JoinPath(u.Host, strings.Trim(u.Path, "/")), region: region,
		credentials: credentials, retryer: newRetryer(o.MaxBackoff), now: o.Now,
		client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// newRetryer returns the policy for failed requests: exponential backoff with jitter after
// connection errors, throttling, expired credentials and faults of the service.
func newRetryer(maxBackoff time.Duration) *retry.Standard {
	if maxBackoff == 0 {
		maxBackoff = defaultMaxBackoff
	}
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts, o.MaxBackoff = s3Attempts, maxBackoff
		o.Retryables = append(o.Retryables,
			retry.RetryableHTTPStatusCode{Codes: map[int]struct{}{http.StatusTooManyRequests: {}}},
			retry.RetryableErrorCode{Codes: expiredCodes},
			retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
				_, unsent := errors.AsType[*url.Error](err)
				return aws.BoolTernary(unsent || errors.Is(err, io.ErrUnexpectedEOF)) // the latter if the response is incomplete
			}))
	})
}

// CheckCredentials returns an error if there are no credentials for the service. It fetches
// those of a role, which takes a few seconds if there is no role.
func (s *S3) CheckCredentials(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, credentialsTimeout)
	defer cancel()
	_, err := s.retrieve(ctx)
	return err
}

func (s *S3) retrieve(ctx context.Context) (aws.Credentials, error) {
	found, err := s.credentials.Retrieve(ctx)
	if err != nil {
		return found, fmt.Errorf("s3: no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, or give the machine a role: %w", err)
	}
	return found, nil
}

// Put implements upload.Blobs.
func (s *S3) Put(ctx context.Context, u lastmile.Upload, data []byte) error {
	_, err := s.do(ctx, http.MethodPut, u, data, http.StatusOK)
	return err
}

// Get implements upload.Blobs.
func (s *S3) Get(ctx context.Context, u lastmile.Upload) ([]byte, error) {
	return s.do(ctx, http.MethodGet, u, nil, http.StatusOK)
}

// Remove implements upload.Blobs.
func (s *S3) Remove(ctx context.Context, u lastmile.Upload) error {
	_, err := s.do(ctx, http.MethodDelete, u, nil, http.StatusOK, http.StatusNoContent)
	if e, ok := errors.AsType[*s3Error](err); ok && e.status == http.StatusNotFound && e.code != "NoSuchBucket" {
		return nil
	}
	return err
}

// do sends a request until it succeeds or must not be retried. All requests can be repeated,
// because they put, get or delete one object. good are the statuses of success.
func (s *S3) do(ctx context.Context, method string, u lastmile.Upload, body []byte, good ...int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, s3Timeout)
	defer cancel()
	for attempt := 1; ; attempt++ {
		credentials, err := s.retrieve(ctx)
		if err != nil {
			return nil, err
		}
		content, err := s.attempt(ctx, credentials, method, u, body, good)
		if err == nil {
			return content, nil
		}
		if rejection, ok := errors.AsType[*s3Error](err); ok && rejection.expired() {
			s.credentials.Invalidate()
		}
		if attempt >= s.retryer.MaxAttempts() || !s.retryer.IsErrorRetryable(err) || !s.pause(ctx, attempt, err) {
			return nil, err
		}
	}
}

// pause waits before the next attempt. It returns false if there must be none.
func (s *S3) pause(ctx context.Context, attempt int, cause error) bool {
	delay, err := s.retryer.RetryDelay(attempt, cause)
	if err != nil {
		return false
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// attempt sends a request once.
func (s *S3) attempt(ctx context.Context, credentials aws.Credentials, method string, u lastmile.Upload, body []byte, good []int) ([]byte, error) {
	object := s.bucket.JoinPath(string(u.Organization), string(u.ID))
	request, err := http.NewRequestWithContext(ctx, method, object.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", u.Type)
	}
	if err := sign(request, body, credentials, s.region, s.now()); err != nil {
		return nil, err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxS3Response))
	if err != nil {
		return nil, err
	}
	if slices.Contains(good, response.StatusCode) {
		return content, nil
	}
	return nil, newS3Error(method, response, content)
}

// s3Error is a response of the service that reports an error.
type s3Error struct {
	status int
	code   string // Amazon's error code; empty if the response has none
	text   string
}

func newS3Error(method string, response *http.Response, content []byte) *s3Error {
	var body struct{ Code string }
	if err := xml.Unmarshal(content, &body); err != nil {
		body.Code = "" // the response is not XML, such as the page of a proxy
	}
	return &s3Error{
		status: response.StatusCode, code: body.Code,
		text: fmt.Sprintf("s3: the response to %s was %s: %.200s", method, response.Status, content),
	}
}

// expiredCodes are the errors for credentials that have expired.
var expiredCodes = map[string]struct{}{"ExpiredToken": {}, "ExpiredTokenException": {}, "InvalidToken": {}, "TokenRefreshRequired": {}}

func (e *s3Error) expired() bool {
	_, ok := expiredCodes[e.code]
	return ok
}

// Error implements error.
func (e *s3Error) Error() string { return e.text }

// HTTPStatusCode returns the status, for the retry policy.
func (e *s3Error) HTTPStatusCode() int { return e.status }

// ErrorCode returns the code, for the retry policy.
func (e *s3Error) ErrorCode() string { return e.code }
