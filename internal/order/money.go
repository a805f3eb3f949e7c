package order

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"dray/internal/lastmile"
)

// Amount is an amount of money in the smallest unit of its currency, such as cents.
type Amount int64

// MaxAmount is the largest amount of a rate or an order, in whole units of the
// currency. MaxTotal is the largest price in its smallest unit: JSON numbers are
// exact up to there.
const (
	MaxAmount        = 10_000_000
	MaxTotal  Amount = 1_000_000_000_000
)

// Currency is a currency by its ISO 4217 code.
type Currency string

// currencies lists the currencies of ISO 4217 by their number of decimals. Funds,
// metals and codes for testing are not currencies of prices.
var currencies = map[int]string{
	0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF",
	2: "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC " +
		"CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD " +
		"KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO " +
		"NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL " +
		"THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG",
	3: "BHD IQD JOD KWD LYD OMR TND",
}

var decimals = func() map[Currency]int {
	of := map[Currency]int{}
	for n, codes := range currencies {
		for code := range strings.FieldsSeq(codes) {
			of[Currency(code)] = n
		}
	}
	return of
}()

// NewCurrency returns the currency with a code, in any letter case.
func NewCurrency(field, code string) (Currency, error) {
	if code == "" {
		return "", lastmile.Missing(field)
	}
	c := Currency(strings.ToUpper(code))
	if _, known := decimals[c]; !known {
		return "", lastmile.Invalid("%s must be a currency code of ISO 4217, such as USD, not %q", field, lastmile.Truncate(code, 32))
	}
	return c, nil
}

// Decimals returns how many decimals amounts of the currency have.
func (c Currency) Decimals() int { return decimals[c] }

// NewAmount returns an amount that was sent as a number of whole units.
func (c Currency) NewAmount(field string, value float64) (Amount, error) {
	if !(value >= 0 && value <= MaxAmount) {
		return 0, lastmile.Invalid("%s must be between 0 and %d, not %v", field, MaxAmount, value)
	}
	n, exact := scaled(value, c.Decimals())
	if !exact {
		return 0, lastmile.Invalid("%s must have at most %d decimals, which is what %s has, not %v", field, c.Decimals(), c, value)
	}
	return Amount(n), nil
}

// Text returns an amount as a decimal number of whole units, with all decimals of
// the currency.
func (c Currency) Text(a Amount) string { return point(a, c.Decimals()) }

// point returns an amount, which is not negative, with a decimal point before its
// last n digits.
func point(a Amount, n int) string {
	text := strconv.FormatInt(int64(a), 10)
	if n == 0 {
		return text
	}
	if missing := n + 1 - len(text); missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	return text[:len(text)-n] + "." + text[len(text)-n:]
}

// scaled returns a decimal number times a power of ten, and whether that is an
// integer.
func scaled(value float64, power int) (n int64, exact bool) {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(value, 'f', -1, 64))
	r.Mul(r, new(big.Rat).SetInt64(int64(math.Pow10(power))))
	return r.Num().Int64(), r.IsInt()
}

// perUnit is the number of parts into which a unit is divided, because computing with exact
// fractions of numbers such as 1e-300 would take long.
const perUnit = 1_000_000_000_000

// fractions converts a number of units, at most MaxUnits, to parts. It takes the number as
// it was written: as the shortest decimal number with the same value.
func fractions(value float64) int64 {
	const zeros = "000000000000" // as many as perUnit has
	whole, part, _ := strings.Cut(strconv.FormatFloat(value, 'f', -1, 64), ".")
	n, _ := strconv.ParseInt(whole+(part + zeros)[:len(zeros)], 10, 64)
	return n
}

// decimal returns a number of units as a fraction.
func decimal(value float64) *big.Rat { return big.NewRat(fractions(value), perUnit) }

// rounded returns a number that is not negative as an integer, rounded half up.
func rounded(r *big.Rat) *big.Int {
	twice := new(big.Int).Lsh(r.Num(), 1)
	twice.Add(twice, r.Denom())
	return twice.Quo(twice, new(big.Int).Lsh(r.Denom(), 1))
}
