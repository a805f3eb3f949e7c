package recipientapi

import (
	"errors"
	"fmt"
	"testing"

	"dray/internal/lastmile"
)

func TestOneLinkCannotTakeAllFollowerSlots(t *testing.T) {
	slots := newFollowerSlots()
	enter := func(link, network string) lastmile.Code {
		err := slots.enter(link, network)
		if e, ok := errors.AsType[*lastmile.Error](err); ok {
			return e.Code
		}
		return 0
	}
	for i := range maxFollowersOfTask {
		if code := enter("link", fmt.Sprint(i)); code != 0 {
			t.Fatalf("follower %d was rejected: %d", i+1, code)
		}
	}
	if code := enter("link", "elsewhere"); code != lastmile.CodeTooMany {
		t.Errorf("one more follower of the link: got %d", code)
	}
	if code := enter("other", "elsewhere"); code != 0 {
		t.Errorf("a follower of another link: got %d", code)
	}
	for i := range maxFollowersOfNetwork {
		if code := enter(fmt.Sprint(i), "busy"); code != 0 {
			t.Fatalf("follower %d from a network was rejected: %d", i+1, code)
		}
	}
	if code := enter("third", "busy"); code != lastmile.CodeTooMany {
		t.Errorf("one more follower from the network: got %d", code)
	}
	if code := enter("third", ""); code != 0 {
		t.Errorf("a follower from an unknown network: got %d", code)
	}
	slots.leave("link", "0")
	if code := enter("link", "elsewhere"); code != 0 {
		t.Errorf("a slot that was left is not free: %d", code)
	}
}

func TestAllFollowersTogetherAreLimited(t *testing.T) {
	slots := newFollowerSlots()
	for i := range maxFollowers {
		if err := slots.enter(fmt.Sprint(i), ""); err != nil {
			t.Fatal(err)
		}
	}
	err := slots.enter("one more", "network")
	if e, ok := errors.AsType[*lastmile.Error](err); !ok || e.Code != lastmile.CodeOverloaded {
		t.Errorf("got %v, want that the server is busy", err)
	}
	slots.leave("0", "")
	for range maxFollowersOfTask { // a rejected follower keeps no slot of its link
		if err := slots.links.Acquire("one more"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRejection: a page ends when its task is gone, and not when the server is busy.
func TestRejection(t *testing.T) {
	for _, test := range []struct {
		err  error
		want bool
	}{
		{fmt.Errorf("read: %w", lastmile.NotFound("page", "abc")), true},
		{fmt.Errorf("read: %w", lastmile.Overloaded("the database cannot be reached")), false},
		{lastmile.TooMany(), false},
		{errors.New("a bug"), false},
		{nil, false},
	} {
		if got := isRejection(test.err); got != test.want {
			t.Errorf("%v ends a page: %v", test.err, got)
		}
	}
}
