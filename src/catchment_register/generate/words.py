"""Words that names of people, places, streets and firms are made of. All of it is invented."""

from __future__ import annotations


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


GIVEN = _words(
    "Ada Agnes Aksel Alma Amir Anders Anna Arne Astrid Bendik Berit Birk Bodil Dina Edvard Eirin Elias Elin Emil"
    " Erik Eva Farah Filip Frida Geir Greta Guro Halvor Hanna Hedda Henrik Hilde Ida Ingrid Ivar Jakob Jenny Johan"
    " Jonas Julie Kaja Karin Karl Kim Kjell Lars Lea Leif Linnea Liv Magnus Maja Marit Mari Mats Mona Nils Nina"
    " Nora Odd Ola Olga Oskar Per Petra Ragnar Rana Rolf Ronja Ruth Sara Selma Signe Simen Sofia Stein Sunniva"
    " Svein Thea Thomas Tiril Tora Trine Turid Ulrik Vera Vidar Yngve Zara"
)
FAMILY = _words(
    "Aas Aune Bakke Berg Berge Birkeland Brekke Bru Dahl Dale Egeland Eide Eng Engen Fjeld Foss Furu Gran Haug"
    " Haugland Heggen Hegna Helle Hjelm Holm Holt Hovland Kvam Lange Lervik Lia Lie Lind Lund Lunde Lyng Moe Moen"
    " Myhre Myklebust Nes Nygaard Ness Nordby Nyland Oksnes Opsahl Rud Ruud Rygg Sand Sande Sandvik Skaar Skogen"
    " Solberg Solheim Solli Strand Strom Sunde Sveen Tangen Teigen Torp Tveit Vang Vik Viken Wold Ytre Aasen"
)
PLACE_HEADS = _words(
    "Nord Sor Ost Vest Ytter Inner Over Neder Stor Lill Fjell Skog Elve Fjord Hav Sund Strand Eng Berg Furu"
    " Bjorke Sand Stein Lyng Ravne Orne Gras Kirke Gamle Ny"
)
PLACE_TAILS = _words(
    "vik dal nes by heim land sund fjord vang stad bygd havn voll moen foss lia tun haugen rud mark oy sjo"
)
STREETS = _words(
    "Havne Kirke Stasjons Skole Strand Elve Torg Industri Fjell Skog Bjorke Furu Lyng Solbakk Myr Bekke Nord Sor"
    " Ost Vest Kvern Smed Gartner Fabrikk Sjo Park Ring Bru Tunnel Melle Rosen Hage"
)
STREET_TAILS = ("veien", "gata", "bakken", "alleen", "svingen", "kroken")
COINED_HEADS = _words(
    "Al Ar Bor Cor Dan Del El Fal Fjor Gry Hal Il Jor Kal Lum Mar Nov Or Pol Quin Ros Sol Tal Ul Vel Zen"
)
COINED_MIDDLES = _words("a e i o u an en in on er ar el il or ta ve ni ro ma")
COINED_TAILS = _words("da dra ka la lia mo na nor ra ria sta tek ton va via x")

# By the section of the activity: what a firm says it does.
TRADES = {
    "A": ("Gard", "Skogdrift", "Sjomat", "Fiske", "Gartneri", "Havbruk"),
    "B": ("Grus", "Pukk", "Mineral", "Energi"),
    "C": ("Industri", "Bakeri", "Mekaniske", "Bryggeri", "Mobel", "Plast", "Stal", "Trykk"),
    "D": ("Kraft", "Energi", "Nett"),
    "E": ("Gjenvinning", "Renovasjon", "Vann"),
    "F": ("Bygg", "Entreprenor", "Elektro", "Tomrer", "Maler", "Anlegg", "VVS"),
    "G": ("Handel", "Bil", "Butikk", "Engros", "Import", "Jernvare", "Mat"),
    "H": ("Transport", "Spedisjon", "Taxi", "Rederi", "Lager"),
    "I": ("Hotell", "Kafe", "Restaurant", "Catering", "Camping"),
    "J": ("Data", "Programvare", "Media", "Film", "Forlag", "Nettverk"),
    "K": ("Invest", "Finans", "Kapital", "Forsikring", "Holding"),
    "L": ("Eiendom", "Utleie", "Naeringsbygg"),
    "M": ("Radgivning", "Arkitekter", "Regnskap", "Konsult", "Design", "Advokat", "Teknikk"),
    "N": ("Bemanning", "Renhold", "Reiser", "Vakt", "Drift"),
    "O": ("Forvaltning", "Tjenester"),
    "P": ("Skole", "Kurs", "Barnehage", "Opplaering"),
    "Q": ("Helse", "Legesenter", "Omsorg", "Tannlege", "Fysioterapi"),
    "R": ("Kultur", "Scene", "Idrett", "Musikk", "Museum"),
    "S": ("Frisor", "Forening", "Velvaere", "Verksted"),
    "T": ("Husholdning",),
    "U": ("Kontor",),
}
SOCIETIES = ("Idrettslag", "Velforening", "Korps", "Musikklag", "Historielag", "Skytterlag", "Seilforening", "Sanglag")
