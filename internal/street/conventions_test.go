package street_test

import (
	"bytes"
	"strings"
	"testing"

	"dray/internal/osm"
	"dray/internal/street"
)

// world is one address of each of many countries.
const world = `LON,LAT,NUMBER,STREET,CITY,REGION,POSTCODE,COUNTRY
13.3777,52.5163,77,Unter den Linden,Berlin,,10117,DE
11.5820,48.1351,8,Weinstraße,München,,80333,DE
10.0010,53.5530,12a,Mönckebergstraße,Hamburg,,20095,DE
6.7760,51.2250,3,Königsallee,Düsseldorf,,40212,DE
2.3364,48.8606,99,Rue de Rivoli,Paris,,75001,FR
2.3300,48.8700,10bis,Boulevard Haussmann,Paris,,75009,FR
4.8350,45.7600,14,Rue du 8 Mai 1945,Lyon,,69002,FR
-3.7030,40.4170,1,Calle Mayor,Madrid,,28013,ES
2.1700,41.3900,43,Passeig de Gràcia,Barcelona,,08007,ES
-8.6100,41.1500,12,Avenida da Liberdade,Porto,,4000-322,PT
-9.1400,38.7200,7,Rua do Doutor António Borges,Lisboa,,1250-096,PT
9.1900,45.4600,5,Via Monte Napoleone,Milano,,20121,IT
12.4800,41.9000,21,Piazza di Spagna,Roma,,00187,IT
4.8900,52.3700,263,Prinsengracht,Amsterdam,,1016 GV,NL
4.4000,51.9200,100,Coolsingel,Rotterdam,,3011 AD,NL
4.3500,50.8500,2,Grote Markt,Brussel,,1000,BE
12.5700,55.6800,7B,Store Kongensgade,København K,,1264,DK
10.7400,59.9100,5,Karl Johans gate,Oslo,,0154,NO
18.0700,59.3300,1,Drottninggatan,Stockholm,,111 51,SE
24.9400,60.1700,3,Mannerheimintie,Helsinki,,00100,FI
21.0100,52.2300,4,ul. Nowy Świat,Warszawa,,00-497,PL
14.4200,50.0900,12,Václavské náměstí,Praha,,110 00,CZ
16.3700,48.2100,21,Kärntner Straße,Wien,,1010,AT
8.5400,47.3700,1,Bahnhofstrasse,Zürich,,8001,CH
37.6200,55.7500,10,улица Тверская,Москва,,125009,RU
-0.1276,51.5034,10,Downing Street,London,,SW1A 2AA,GB
-3.1900,55.9500,221B,Baker Street,Edinburgh,,EH1 1AA,GB
-6.2600,53.3500,5,O'Connell Street,Dublin,,D01 F5P2,IE
-73.9857,40.7484,350,5th Avenue,New York,NY,10118,US
-77.0365,38.8977,1600,Pennsylvania Avenue NW,Washington,DC,20500,US
-122.4000,37.7900,1,Dr. Martin Luther King Jr. Boulevard,Oakland,CA,94601,US
-79.3800,43.6500,301,Front Street West,Toronto,ON,M5V 2T6,CA
151.2100,-33.8700,483,George Street,Sydney,NSW,2000,AU
-46.6500,-23.5600,1578,Avenida Paulista,São Paulo,SP,01310-200,BR
-58.3800,-34.6000,1550,Avenida 9 de Julio,Buenos Aires,,C1043,AR
-99.1300,19.4300,76,Paseo de la Reforma,Ciudad de México,,06500,MX
28.9800,41.0100,12,İstiklal Caddesi,İstanbul,,34430,TR
77.2200,28.6300,22,Rajpath Marg,New Delhi,,110001,IN
-0.1500,51.5200,Rose Cottage,Mill Lane,Oxford,,OX1 1AA,GB
-0.1510,51.5210,A12,Mill Lane,Oxford,,OX1 1AA,GB
-0.1520,51.5220,12,Mill Lane,Oxford,,OX1 1AA,GB
14.4435,35.9049,Lia Buildings,Triq il-Mosta,Lija,,LJA 9012,MT
14.4452,35.9047,7,Triq il-Mosta,Lija,,LJA 9012,MT
23.7300,37.9800,4,Οδός Ερμού,Αθήνα,,105 63,GR
`

// TestNumberAtSeveralPlaces finds a house number of more than one building.
func TestNumberAtSeveralPlaces(t *testing.T) {
	x := build(t, []byte(`LON,LAT,NUMBER,STREET,CITY,POSTCODE
9.5000,47.1000,1,Plot Lane,Town,9490
9.5008,47.1000,1,Plot Lane,Town,9490
9.5100,47.1000,2,Plot Lane,Town,9490
9.5000,47.1000,3,Plot Lane,Town,9490
9.5200,47.1000,3,Plot Lane,Town,9490
9.5205,47.1000,3,Plot Lane,Town,9490
`))
	for number, want := range map[string]float64{"1": 9.5004, "2": 9.51, "3": 9.52} {
		hits, err := x.Search(street.Query{Line: "Plot Lane " + number + ", 9490 Town"})
		if err != nil || len(hits) != 1 || hits[0].Kind != street.KindHouse || meters(hits[0].Location, street.Point{Lon: want, Lat: 47.1}) > 1 {
			t.Errorf("%s: found %+v, want it at %v: %v", number, hits, want, err)
		}
	}
}

func TestConventions(t *testing.T) {
	x := build(t, []byte(world))
	for line, want := range map[string]string{
		"Unter den Linden 77, 10117 Berlin":                            "77 Unter den Linden",
		"unter den linden 77 berlin":                                   "77 Unter den Linden",
		"Triq il-Mosta Lia Buildings, LJA 9012 Lija":                   "Lia Buildings Triq il-Mosta",
		"Triq il-Mosta Lia Buildinsg, LJA 9012 Lija":                   "Lia Buildings Triq il-Mosta",
		"Weinstr. 8, 80333 Muenchen":                                   "8 Weinstraße",
		"Weinstrasse 8, D-80333 München, Germany":                      "8 Weinstraße",
		"Moenckebergstr. 12 a, 20095 Hamburg":                          "12A Mönckebergstraße",
		"Mönkebergstraße 12A, Hamburg":                                 "12A Mönckebergstraße",
		"Königsalle 3, Düsseldorf":                                     "3 Königsallee",
		"99 rue de Rivoli, 75001 Paris":                                "99 Rue de Rivoli",
		"99, r. de Rivoli, Paris":                                      "99 Rue de Rivoli",
		"10 bis, bd Haussmann, 75009 Paris":                            "10BIS Boulevard Haussmann",
		"14 rue du 8 mai 1945, 69002 Lyon":                             "14 Rue du 8 Mai 1945",
		"C/ Mayor 1, 28013 Madrid":                                     "1 Calle Mayor",
		"Calle Mayor, 1, 3º B, 28013 Madrid":                           "1 Calle Mayor",
		"Passeig de Gracia 43, 08007 Barcelona":                        "43 Passeig de Gràcia",
		"Av. da Liberdade, 12, 4000-322 Porto":                         "12 Avenida da Liberdade",
		"R. Dr. António Borges 7, 1250-096 Lisboa":                     "7 Rua do Doutor António Borges",
		"Via Montenapoleone 5, 20121 Milano":                           "5 Via Monte Napoleone",
		"P.za di Spagna 21, Roma":                                      "21 Piazza di Spagna",
		"Prinsengracht 263, 1016GV Amsterdam":                          "263 Prinsengracht",
		"Prinsengracht 263-267, 1016 GV Amsterdam, Nederland":          "263 Prinsengracht",
		"Coolsingel 100 3011AD Rotterdam":                              "100 Coolsingel",
		"Grote Markt 2, 1000 Brussel":                                  "2 Grote Markt",
		"St. Kongensgade 7 B, 3. tv, 1264 København K":                 "7B Store Kongensgade",
		"Karl Johans gt. 5, 0154 Oslo":                                 "5 Karl Johans gate",
		"Drottninggatan 1, 11151 Stockholm":                            "1 Drottninggatan",
		"Mannerheimintie 3 A 12, 00100 Helsinki":                       "3 Mannerheimintie",
		"Nowy Swiat 4 m. 12, 00-497 Warszawa":                          "4 ul. Nowy Świat",
		"Vaclavske namesti 12, 110 00 Praha 1":                         "12 Václavské náměstí",
		"Kärntnerstraße 21/5, 1010 Wien":                               "21 Kärntner Straße",
		"Bahnhofstr 1, CH-8001 Zuerich":                                "1 Bahnhofstrasse",
		"ул. Тверская, 10, Москва":                                     "10 улица Тверская",
		"10 Downing St, London SW1A 2AA":                               "10 Downing Street",
		"Flat 2, 10 Downing Street, Westminster, London SW1A2AA":       "10 Downing Street",
		"221b Baker Street, Edinburgh":                                 "221B Baker Street",
		"5 OConnell Street, Dublin":                                    "5 O'Connell Street",
		"Rose Cottage, Mill Lane, Oxford OX1 1AA":                      "Rose Cottage Mill Lane",
		"Mill Lane Rose Cottage, Oxford":                               "Rose Cottage Mill Lane",
		"A12 Mill Lane, Oxford":                                        "A12 Mill Lane",
		"12 Mill Lane, Oxford":                                         "12 Mill Lane",
		"350 Fifth Ave, Suite 3304, New York, NY 10118":                "350 5th Avenue",
		"350 5th Ave #3304, New York NY":                               "350 5th Avenue",
		"1600 Pennsylvania Ave. NW, Washington, DC 20500-0003":         "1600 Pennsylvania Avenue NW",
		"1600 Pennsylvania Avenue Northwest, Washington":               "1600 Pennsylvania Avenue NW",
		"1 Martin Luther King Blvd, Oakland CA":                        "1 Dr. Martin Luther King Jr. Boulevard",
		"301 Front St W, Toronto, ON M5V2T6":                           "301 Front Street West",
		"483 George St, Sydney NSW 2000":                               "483 George Street",
		"Av. Paulista, 1578, São Paulo - SP, 01310-200":                "1578 Avenida Paulista",
		"Avenida 9 de Julio 1550, Buenos Aires":                        "1550 Avenida 9 de Julio",
		"Paseo de la Reforma 76, Piso 4, 06500 Ciudad de Mexico, CDMX": "76 Paseo de la Reforma",
		"Istiklal Cad. 12, 34430 Istanbul":                             "12 İstiklal Caddesi",
		"22, Rajpath Marg, New Delhi 110 001":                          "22 Rajpath Marg",
		"Ερμού 4, Αθήνα 10563":                                         "4 Οδός Ερμού",
		"OKLAND, 1 MARTIN LUTHER KING JR BOULEVARD":                    "1 Dr. Martin Luther King Jr. Boulevard",
		"Avenue 5th 350 New York":                                      "350 5th Avenue",
	} {
		got := first(t, x, street.Query{Line: line})
		if found := strings.TrimSpace(got.Number + " " + got.Street); found != want || got.Kind != street.KindHouse || !got.Confirmed {
			t.Errorf("%s: found %+v, want %s", line, got, want)
		}
	}
}

func TestHouseNames(t *testing.T) {
	x := build(t, []byte(world))
	for number, want := range map[string]street.Kind{"Rose Cottage": street.KindHouse, "a12": street.KindHouse, "12": street.KindHouse, "14": street.KindNearby, "Lily House": street.KindStreet} {
		got := first(t, x, street.Query{Number: number, Street: "Mill Lane", City: "Oxford"})
		if got.Street != "Mill Lane" || got.Kind != want || want == street.KindHouse && !strings.EqualFold(got.Number, number) {
			t.Errorf("%s: found %+v", number, got)
		}
	}
}

// TestCountries finds the countries of streets by boundaries, also by those of large countries.
func TestCountries(t *testing.T) {
	for name, west := range map[string]float64{"a small country": -76, "a large country": -141} {
		t.Run(name, func(t *testing.T) {
			var file bytes.Buffer
			w := osm.NewWriter(&file, -141, 41, -52, 83)
			for i, at := range [][2]float64{{west, 41}, {-52, 41}, {-52, 83}, {west, 83}, {-75.70, 45.42}, {-75.69, 45.42}} {
				w.Node(int64(i+1), at[0], at[1])
			}
			w.Node(7, -75.695, 45.4201, "addr:housenumber", "5", "addr:street", "Bank Street", "addr:city", "Ottawa")
			w.Way(1, []int64{1, 2, 3, 4, 1})
			w.Way(2, []int64{5, 6}, "highway", "residential", "name", "Bank Street")
			w.Relation(1, []osm.Member{{Kind: osm.KindWay, ID: 1, Role: "outer"}}, "type", "boundary", "boundary", "administrative", "admin_level", "2", "name", "Canada", "ISO3166-1", "CA")
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if got := first(t, build(t, file.Bytes()), street.Query{Line: "5 Bank Street, Ottawa"}); got.Country != "CA" {
				t.Errorf("found %+v", got)
			}
		})
	}
}

// TestNamesLikeCrossings finds streets and numbers that look like two streets, where such
// streets meet.
func TestNamesLikeCrossings(t *testing.T) {
	var file bytes.Buffer
	w := osm.NewWriter(&file, -3.8, 40.3, -3.6, 40.5)
	for i, at := range [][2]float64{{-3.70, 40.40}, {-3.71, 40.40}, {-3.70, 40.41}, {-3.69, 40.42}, {-3.68, 40.42}} {
		w.Node(int64(i+1), at[0], at[1])
	}
	for i, house := range [][2]string{{"5", "Calle Ramón y Cajal"}, {"27/A", "Calle Ramón"}} {
		w.Node(int64(i+10), -3.685, 40.4205+float64(i)/100, "addr:housenumber", house[0], "addr:street", house[1], "addr:city", "Madrid", "addr:postcode", "28001")
	}
	for i, name := range []string{"Calle Ramón", "Calle Cajal", "Calle Ramón y Cajal"} {
		w.Way(int64(i+1), [][]int64{{1, 2}, {1, 3}, {4, 5}}[i], "highway", "residential", "name", name, "addr:city", "Madrid")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	x := build(t, file.Bytes())
	for line, want := range map[string]string{
		"Calle Ramón y Cajal 5, 28001 Madrid": "5 Calle Ramón y Cajal", "Calle Ramón 27/A, 28001 Madrid": "27/A Calle Ramón",
		"Calle Ramón & Calle Cajal, Madrid": "Calle Ramón & Calle Cajal",
	} {
		if got := first(t, x, street.Query{Line: line}); strings.TrimSpace(got.Number+" "+got.Street) != want {
			t.Errorf("%s: found %+v", line, got)
		}
	}
}
