package blob

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// TestSignature checks examples from Amazon's documentation of signature version 4.
func TestSignature(t *testing.T) {
	keys := aws.Credentials{AccessKeyID: "AKIAIOSFODNN7EXAMPLE", SecretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}
	at := time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://examplebucket.s3.amazonaws.com/test.txt", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Range", "bytes=0-9")
	if err := sign(request, nil, keys, "us-east-1", at); err != nil {
		t.Fatal(err)
	}
	const want = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
	if got := request.Header.Get("Authorization"); !strings.HasSuffix(got, "Signature="+want) {
		t.Errorf("got %s", got)
	}
	put, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "https://examplebucket.s3.amazonaws.com/test$file.text", nil)
	if err != nil {
		t.Fatal(err)
	}
	put.Header.Set("Date", "Fri, 24 May 2013 00:00:00 GMT")
	put.Header.Set("X-Amz-Storage-Class", "REDUCED_REDUNDANCY")
	if err := sign(put, []byte("Welcome to Amazon S3."), keys, "us-east-1", at); err != nil {
		t.Fatal(err)
	}
	const wantPut = "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
	if got := put.Header.Get("Authorization"); !strings.HasSuffix(got, "Signature="+wantPut) {
		t.Errorf("got %s", got)
	}
}
