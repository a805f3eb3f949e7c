package edge

import (
	"bytes"
	"context"
	"fmt"

	"dray/internal/lastmile"
)

// MaxReceipt is the largest reply that is kept for repeated requests, in bytes.
const MaxReceipt = 1 << 20

// The contents of receipts that do not keep the reply itself. No JSON begins like this.
var (
	referenceMark = []byte("reference:")
	notKept       = []byte("not kept")
)

// Vault encrypts secrets for an organization.
type Vault interface {
	Seal(org lastmile.OrganizationID, secret []byte) []byte
	Open(org lastmile.OrganizationID, sealed []byte) ([]byte, error)
}

// encodeReply encodes the result of a change for a receipt, which keeps the response, or
// a reference if the response is too large. A nil result is an empty response.
func (rt Route) encodeReply(org lastmile.OrganizationID, result any) ([]byte, error) {
	if result == nil {
		return []byte{}, nil
	}
	if rt.encode == nil {
		return nil, fmt.Errorf("%s %s saves a %T under its idempotency key, and is not a Create route", rt.Method, rt.Path, result)
	}
	reply, err := rt.encode(result)
	if err == nil && rt.vault != nil {
		reply = rt.vault.Seal(org, reply)
	}
	if err != nil || len(reply) <= MaxReceipt {
		return reply, err
	}
	if rt.refer != nil {
		reference, err := rt.refer(result)
		if kept := append(bytes.Clone(referenceMark), reference...); err != nil || len(kept) <= MaxReceipt {
			return kept, err
		}
	}
	return notKept, nil
}

// replay returns the reply to a request that was served before, from its receipt.
func (rt Route) replay(ctx context.Context, c *Call, kept []byte) ([]byte, error) {
	if rt.vault != nil && !bytes.Equal(kept, notKept) {
		return rt.vault.Open(c.Who.Organization, kept)
	}
	reference, isReference := bytes.CutPrefix(kept, referenceMark)
	switch {
	case isReference && rt.rebuild != nil:
		return rt.rebuild(ctx, c, reference)
	case isReference, bytes.Equal(kept, notKept):
		return nil, lastmile.Conflict("This request was performed before. Its response was larger than %d bytes and was not kept: read the records that it created.", MaxReceipt)
	}
	return kept, nil
}
