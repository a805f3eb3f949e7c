package main

// stateNames are local and shortened names of states, by country and GeoNames' name.
var stateNames = map[string]map[string][]string{
	"AT": {
		"Vienna": {"Wien"}, "Tyrol": {"Tirol"}, "Styria": {"Steiermark"}, "Upper Austria": {"Oberösterreich", "OÖ"},
		"Lower Austria": {"Niederösterreich", "NÖ"}, "Carinthia": {"Kärnten"},
	},
	"BE": {
		"Brussels Capital": {"Brussels", "Bruxelles", "Bruxelles-Capitale", "Brussel", "Brüssel"},
		"Wallonia":         {"Wallonie", "Région wallonne"}, "Flanders": {"Vlaanderen", "Flandre", "Vlaams Gewest"},
	},
	"CA": {"Quebec": {"PQ"}, "Newfoundland and Labrador": {"Newfoundland", "Terre-Neuve-et-Labrador"}, "British Columbia": {"Colombie-Britannique"}},
	"CH": {
		"Zurich": {"Zürich"}, "Valais": {"Wallis"}, "Ticino": {"Tessin"}, "Saint Gallen": {"St. Gallen"}, "Lucerne": {"Luzern"},
		"Grisons": {"Graubünden"}, "Geneva": {"Genève", "Genf"}, "Fribourg": {"Freiburg"}, "Bern": {"Berne"},
		"Basel-City": {"Basel-Stadt"}, "Vaud": {"Waadt"}, "Neuchâtel": {"Neuenburg"}, "Aargau": {"Argovie"},
	},
	"CZ": {
		"Prague": {"Praha", "Hlavní město Praha"}, "South Moravian": {"Jihomoravský kraj"}, "South Bohemian Region": {"Jihočeský kraj"},
		"Central Bohemia": {"Středočeský kraj"}, "Moravian-Silesian Region": {"Moravskoslezský kraj"}, "Plzeň Region": {"Plzeňský kraj"},
	},
	"DE": {
		"Thuringia": {"Thüringen"}, "Saxony-Anhalt": {"Sachsen-Anhalt"}, "Saxony": {"Sachsen"}, "Rheinland-Pfalz": {"Rhineland-Palatinate"},
		"North Rhine-Westphalia": {"Nordrhein-Westfalen", "NRW"}, "Lower Saxony": {"Niedersachsen"}, "Hesse": {"Hessen"},
		"Mecklenburg-Vorpommern": {"Mecklenburg-Western Pomerania"}, "State of Berlin": {"Berlin"}, "Bavaria": {"Bayern"},
		"Baden-Wurttemberg": {"Baden-Württemberg", "BaWü"},
	},
	"DK": {
		"Capital Region": {"Hovedstaden", "Region Hovedstaden"}, "Central Jutland": {"Midtjylland", "Region Midtjylland"},
		"North Denmark": {"Nordjylland", "Region Nordjylland"}, "Zealand": {"Sjælland", "Region Sjælland"},
		"South Denmark": {"Syddanmark", "Region Syddanmark"},
	},
	"ES": {
		"Murcia": {"Región de Murcia"}, "Balearic Islands": {"Islas Baleares", "Illes Balears"}, "Andalusia": {"Andalucía"},
		"Canary Islands": {"Canarias", "Islas Canarias"}, "Castille-La Mancha": {"Castilla-La Mancha"},
		"Valencia": {"Comunidad Valenciana", "Comunitat Valenciana"}, "Asturias": {"Principado de Asturias"}, "Navarre": {"Navarra", "Nafarroa"},
		"Madrid": {"Comunidad de Madrid"}, "Castille and León": {"Castilla y León"}, "Catalonia": {"Cataluña", "Catalunya"},
		"Galicia": {"Galiza"}, "Basque Country": {"País Vasco", "Euskadi"},
	},
	"FI": {
		"Lapland": {"Lappi"}, "Southwest Finland": {"Varsinais-Suomi"}, "Central Finland": {"Keski-Suomi"}, "Uusimaa": {"Nyland"},
		"North Ostrobothnia": {"Pohjois-Pohjanmaa"}, "Ostrobothnia": {"Pohjanmaa", "Österbotten"}, "North Savo": {"Pohjois-Savo"},
	},
	"FR": {"Provence-Alpes-Côte d'Azur": {"PACA"}, "Corsica": {"Corse"}, "Brittany": {"Bretagne"}, "New Aquitaine": {"Nouvelle-Aquitaine"}, "Normandy": {"Normandie"}},
	"GB": {"Wales": {"Cymru"}, "Scotland": {"Alba"}},
	"IT": {
		"Sicily": {"Sicilia"}, "Sardinia": {"Sardegna"}, "Aosta Valley": {"Valle d'Aosta", "Vallée d'Aoste"},
		"Trentino-Alto Adige": {"Südtirol", "Alto Adige"}, "Tuscany": {"Toscana"}, "Apulia": {"Puglia"}, "Piedmont": {"Piemonte"},
		"The Marches": {"Marche", "Le Marche"}, "Lombardy": {"Lombardia"}, "Basilicate": {"Basilicata"}, "Abruzzo": {"Abruzzi"},
	},
	"NL": {
		"South Holland": {"Zuid-Holland", "ZH"}, "North Holland": {"Noord-Holland", "NH"}, "North Brabant": {"Noord-Brabant", "NB"},
		"Friesland": {"Fryslân"},
	},
	"PL": {
		"Lublin": {"lubelskie"}, "Lesser Poland": {"małopolskie", "Małopolska"}, "Mazovia": {"mazowieckie", "Mazowsze"},
		"Subcarpathia": {"podkarpackie"}, "Podlasie": {"podlaskie"}, "Warmia-Masuria": {"warmińsko-mazurskie"},
		"Lower Silesia": {"dolnośląskie"}, "Łódź Voivodeship": {"łódzkie"}, "Lubusz": {"lubuskie"}, "Opole Voivodeship": {"opolskie"},
		"Pomerania": {"pomorskie"}, "Silesia": {"śląskie"}, "Greater Poland": {"wielkopolskie", "Wielkopolska"},
		"West Pomerania": {"zachodniopomorskie"},
	},
	"PT": {"Lisbon": {"Lisboa"}, "Azores": {"Açores"}},
	"US": {
		"Alabama": {"Ala"}, "Arizona": {"Ariz"}, "Arkansas": {"Ark"}, "California": {"Calif", "Cal"}, "Colorado": {"Colo"},
		"Connecticut": {"Conn"}, "Delaware": {"Del"}, "District of Columbia": {"Washington DC"}, "Florida": {"Fla"}, "Illinois": {"Ill"},
		"Indiana": {"Ind"}, "Kansas": {"Kans", "Kan"}, "Massachusetts": {"Mass"}, "Michigan": {"Mich"}, "Minnesota": {"Minn"},
		"Mississippi": {"Miss"}, "Montana": {"Mont"}, "Nebraska": {"Neb", "Nebr"}, "Nevada": {"Nev"}, "New Mexico": {"N Mex"},
		"North Carolina": {"N Car"}, "North Dakota": {"N Dak"}, "Oklahoma": {"Okla"}, "Oregon": {"Ore", "Oreg"}, "Pennsylvania": {"Penn", "Penna"},
		"South Carolina": {"S Car"}, "South Dakota": {"S Dak"}, "Tennessee": {"Tenn"}, "Texas": {"Tex"}, "Washington": {"Wash"},
		"West Virginia": {"W Va"}, "Wisconsin": {"Wis", "Wisc"}, "Wyoming": {"Wyo"},
	},
}
