package lastmile

import "regexp"

// Phone is a telephone number in international form with a leading plus
// (E.164).
type Phone string

var internationalForm = regexp.MustCompile(`^\+[1-9][0-9]{4,14}$`)

// UncheckedPhone takes a number as it stands, for callers who asked to skip
// the rules of countries. The leading plus is still required.
func UncheckedPhone(raw string) (Phone, error) {
	if !internationalForm.MatchString(raw) {
		return "", InvalidPhone(raw).Because("without the rules of countries it must still be a + and 5 to 15 digits")
	}
	return Phone(raw), nil
}

// InvalidPhone reports a telephone number that cannot be one.
func InvalidPhone(raw string) *Error {
	return Invalid("phone %q is not a valid phone number", raw).
		Because("give it in international form with a leading +, or as dialled in the organization's country")
}
