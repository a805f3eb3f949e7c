package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"dray/internal/lastmile"
)

// S3 keeps bytes in a bucket of a service that speaks the protocol of S3.
type S3 struct {
	endpoint *url.URL // with the bucket and the prefix as its path
	signer   signer
	client   *http.Client
	now      func() time.Time
}

// S3Keys are what the service knows the caller by.
type S3Keys struct{ ID, Secret, Token string }

// How long a request to the service may take, and how much of an answer is
// read.
const (
	s3Time   = 30 * time.Second
	s3Answer = 64 << 20
)

// OpenS3 reads a setting of the form
//
//	s3://bucket/prefix?region=eu-central-1&endpoint=https://minio.example.com:9000
//
// Without an endpoint it is that of the region at Amazon.
func OpenS3(setting string, keys S3Keys, now func() time.Time) (*S3, error) {
	u, err := url.Parse(setting)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("%q is not of the form s3://bucket/prefix?region=…&endpoint=https://…", setting)
	}
	if keys.ID == "" || keys.Secret == "" {
		return nil, errors.New("s3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment")
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
	endpoint = endpoint.JoinPath(u.Host, strings.Trim(u.Path, "/"))
	return &S3{
		endpoint: endpoint, signer: signer{keys: keys, region: region, service: "s3"}, now: now,
		client: &http.Client{Timeout: s3Time, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// Put implements upload.Bytes.
func (s *S3) Put(ctx context.Context, u lastmile.Upload, data []byte) error {
	_, err := s.do(ctx, http.MethodPut, u, data, http.StatusOK)
	return err
}

// Get implements upload.Bytes.
func (s *S3) Get(ctx context.Context, u lastmile.Upload) ([]byte, error) {
	return s.do(ctx, http.MethodGet, u, nil, http.StatusOK)
}

// Remove implements upload.Bytes.
func (s *S3) Remove(ctx context.Context, u lastmile.Upload) error {
	_, err := s.do(ctx, http.MethodDelete, u, nil, http.StatusOK, http.StatusNoContent, http.StatusNotFound)
	return err
}

func (s *S3) do(ctx context.Context, method string, u lastmile.Upload, body []byte, good ...int) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.endpoint.JoinPath(string(u.Organization), string(u.ID)).String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", u.Type)
	}
	s.signer.sign(request, body, s.now())
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, s3Answer))
	if err != nil {
		return nil, err
	}
	if slices.Contains(good, response.StatusCode) {
		return answer, nil
	}
	return nil, fmt.Errorf("s3: %s answered %s: %.200s", method, response.Status, answer)
}
