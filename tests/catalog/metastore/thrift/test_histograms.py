"""Sketches that real Hive wrote, and what is no sketch."""

from __future__ import annotations

import struct
import zlib
from base64 import b85decode

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.metastore.thrift.histograms import PARTS, quantiles

# Of the 20,000 numbers n % 100, or n * 50 where n % 10 is 0, for n from 0 on: by ANALYZE TABLE of Hive 4.0.1.
_OF_HIVE = zlib.decompress(
    b85decode(
        r"c-n2%O-NKx6bJAlSV{>>2)Yn7GLsUU#Xv2ro>S&KU@;4cAq*xGoYHJk7cC4fAu$BXR1(t=5+WvIGPp1ik%yQVxo}b7qF^9`KB1*6>AdC~J>C?4%v"
        r"-#{x&QNV_vIDCDilK1W%&2E3I(vAKI=#aiIFu@l?QM*FZYg@--iJALIC~5kOyRdJR}M7DCDg4(mO-+oFq@kFnLB&Bu!qBk&yZ7zc)(HV`Q96kV!H"
        r"{rb&j(gmV9LmY(OxJXs)%#3M^&nXLG~=N$b+hdzl%pb;QI!X!=-Bt<gBBkLqfHc38xzlfBQ3Q|h~<TP_w3u|R<tethSdz{Yz=Q5<SNO1<EeC|m;?"
        r"+l-DfzP%aGTl80uY1t^q|f8MXkwJvD?c~?ta4t5&-{{P`P?PU;qynC;T)1|g7cVTlFJ5@d?1t~IhAl$l2<inR>!#oIkyI8XBXkzqD*Jkr}EQ1me}"
        r"sGoji4arFZpLuCK;a##5@d{H$j~JAEZRwYZ&quBXWN7{ZsE2%m4E_ofq_KV9hjxQ+0(8;!Yx-t#zmPw(RY^^ltQ^$=l2Y9aN=C{hRAqtd6oLau?Y"
        r"oNJ)_Hn2zEhFL`A9#fg?yc1U5lJl_2SbEsbSn`#A);%rRQg07N&^vM!y|Okmzpf!vM$vq@j;5&{ozf1~<GR-+U&qQ>vKAi8D!L9ON`N^^*qR#=XG"
        r"Td_brdN!q39aVS##%GRn{#V)?E6&DVuxDs_qw2q?9P7O1afnGUL^1)@#+w*Qvgf`46f+pfy-~;eyhlgq2pcHzI29wpn{5s&;Wq>9Y2V>=@B+(X$}"
        r"?XF%O`nw}GFD714ACe?kYXK7gNFS#RA>aI-hvDd_?qIcc6x=*!9YY)n-POJMiqh{CMk=nevix;f@xu|A+$+EnAw`NaVgw12kkREJ?x_8acSm45eq"
        r"b`KcyR;8n=)CX3!K4ep5!W1=cFoB}*L+-a;nXJ=-v4$@&6ev#3()H>M(=DHLVYE|Rt-AwdURTXXlBl!bE662@g+1BSMV>Y#>-9"
    )
)
_NUMBERS = np.sort([n % 100 if n % 10 else n * 50 for n in range(20_000)])


def test_a_sketch_of_hive() -> None:
    found = quantiles(_OF_HIVE)
    assert len(found) == PARTS + 1
    assert (found[0], found[-1]) == (_NUMBERS[0], _NUMBERS[-1])
    for part, value in enumerate(found):
        least, most = (np.searchsorted(_NUMBERS, value, side=side) / len(_NUMBERS) for side in ("left", "right"))
        assert least - 0.015 <= part / PARTS <= most + 0.015


def test_a_sketch_of_one_value_and_of_none() -> None:
    assert quantiles(struct.pack("<BBBBHBxf", 2, 2, 15, 4, 200, 8, 7.5)) == (7.5,) * (PARTS + 1)
    assert quantiles(struct.pack("<BBBBHBx", 2, 1, 15, 1, 200, 8)) == ()


@pytest.mark.parametrize("size", [0, 7, 8, 19, 40, 60, len(_OF_HIVE) - 1])
def test_a_sketch_that_was_cut_says_nothing(size: int) -> None:
    assert quantiles(_OF_HIVE[:size]) == ()


@given(st.lists(st.tuples(st.integers(0, len(_OF_HIVE) - 1) | st.integers(0, 60), st.integers(0, 255)), max_size=6))
def test_a_damaged_sketch_does_no_harm(changes: list[tuple[int, int]]) -> None:
    damaged = bytearray(_OF_HIVE)
    for position, value in changes:
        damaged[position] = value
    found = quantiles(bytes(damaged))
    assert len(found) in (0, PARTS + 1)
    assert list(found) == sorted(found)
