# SPDX-License-Identifier: BSD-3-Clause
"""wmediumd's configurations: stations and links, in libconfig's grammar, also with `@include`.

wmediumd's library silently reads a number of the wrong kind as 0. Here `0.5` for a whole number is an error, and `1`
for `1.0` is 1.0, with a warning. A key without meaning, here or there, is a warning that names it.

- `ifaces.ids`: addresses of up to 250 stations; an address that is given twice is one station
- `ifaces.links`: `((i, j, snr), …)` in whole dB, in both directions unless both are given; default 30. `model` is then
  ignored
- `ifaces.enable_interference`: in our air always on; `false` is a warning
- `ifaces.medium_array`: `((i, j), (k))`; stations of different lists, and those in none, do not hear each other
- `model.type`:
  - `snr`: `links` as above
  - `prob`: `links` of loss probabilities, 0.0 to 1.0, in both directions unless both are given; `default_prob`, 1.0,
    for the others
  - `prob_asymmetric`: the same in one direction; the other has `default_prob`
  - `path_loss`: `positions` `((x, y), …)` or `((x, y, z), …)`, `tx_powers` in dBm, `directions` in metres each 3 s,
    `isnodeaps` (no effect, a warning), `model_name`
- `model.fading_coefficient`: whole, 0 to 30: standard deviation in dB of each frame's power at each receiver; in our
  air 4.5 at most
- `model.noise_threshold`: whole dBm, -91
- `model_name`, and our propagation model for it:
  - `free_space`: `free-space`; `sL`, the system's loss, a factor
  - `log_distance`: `log-distance`; `path_loss_exp`, and `xg` in dB
  - `log_normal_shadowing`: the same with `sL`; the control socket sets each station's own part
  - `itu`: `itu-indoor`; `nFLOORS`, `LF` (or `lF`) in dB a floor, `pL` the coefficient
  - `two_ray_ground`: `two-ray` on the channel, antennas 1 m high; `sL`
- `path_loss`: the group from before `model`, as `model` with `model_params = (model_name, path_loss_exp, xg)`

A table of packet error rates (`-x`) has rows of a whole dBm and twelve rates, in hwsim's order (1, 2, 5.5, 11, 6, 9 …
54 Mb/s).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import partial

from emulation.features.wmediumd.inside import libconfig
from emulation.features.wmediumd.inside.libconfig import Setting
from emulation.features.wmediumd.inside.stations import MOST, SECOND, Loss, Mode, PathLoss, Station, Stations, name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from emulation.features.wmediumd.inside.stations import Vector

MAC = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")
TYPES = ("snr", "prob", "prob_asymmetric", "path_loss")
FAR, STRONG = 1e6, 100.0  # m, dBm: larger numbers are mistakes

# The meaningful keys of `model`, by its type; and by the model_name of a path loss, with their names in PathLoss.
COMMON = ("type", "fading_coefficient", "noise_threshold")
KEYS_OF_TYPE = {
    "snr": ("links",),
    "prob": ("links", "default_prob"),
    "prob_asymmetric": ("links", "default_prob"),
    "path_loss": ("positions", "directions", "tx_powers", "isnodeaps", "model_name"),
}
NEEDED = {"path_loss": ("positions", "tx_powers", "model_name")}
INTEGERS = ("nFLOORS", "LF", "lF", "pL", "sL")
KEYS_OF_LOSS = {
    Loss.FREE_SPACE: {"sL": "system_loss"},
    Loss.LOG_DISTANCE: {"path_loss_exp": "exponent", "xg": "fixed_db"},
    Loss.LOG_NORMAL_SHADOWING: {"path_loss_exp": "exponent", "sL": "system_loss"},
    Loss.ITU: {"nFLOORS": "floors", "LF": "floor_db", "lF": "floor_db", "pL": "power_loss"},
    Loss.TWO_RAY_GROUND: {"sL": "system_loss"},
}
BOUNDS = {"path_loss_exp": (0.1, 20.0), "xg": (-40.0, 150.0), "sL": (1, 1000), "nFLOORS": (0, 100), "LF": (0, 200),
          "lF": (0, 200), "pL": (0, 200)}  # fmt: skip


@dataclass
class Configuration:
    """The contents of a file: `stations`, and a sentence with its line about each part without meaning. `numbered` has
    a station for each of `ids`, also for an address that is given twice."""

    stations: Stations
    numbered: list[Station] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def read(path: str) -> Configuration:
    """Read a configuration. Raises Misuse, with file and line, if it is wrong; OSError if it cannot be read."""
    return _configuration(libconfig.read(path))


def parse(text: str, name: str = "configuration") -> Configuration:
    """Parse a configuration. Raises Misuse, with `name` and line, if it is wrong; OSError for files that it
    includes."""
    return _configuration(libconfig.parse(text, name))


def _configuration(top: Setting) -> Configuration:
    found = Configuration(Stations())
    groups = _group(top, "the file")
    if "ifaces" not in groups:
        raise top.place.refuse("the group ifaces, which names the stations, is missing")
    if "path_loss" in groups and "model" not in groups:
        groups["model"] = _from_old_group(groups["path_loss"])
    _unknown(found, groups, ("ifaces", "model", "path_loss"), "")
    ifaces = _group(groups["ifaces"], "ifaces")
    _unknown(found, ifaces, ("ids", "links", "enable_interference", "medium_array"), "ifaces.")
    if "ids" not in ifaces:
        raise groups["ifaces"].place.refuse("ifaces.ids is missing: the addresses of the stations")
    _ids(found, ifaces["ids"])
    if "enable_interference" in ifaces:
        found.stations.interference = _boolean(ifaces["enable_interference"], "ifaces.enable_interference")
    if "medium_array" in ifaces:
        _mediums(found, ifaces["medium_array"])
    if "links" in ifaces:
        _links(found, ifaces["links"], "ifaces.links", whole=True)
        if "model" in groups:
            _warn(found, groups["model"], "model", "is ignored, because there is ifaces.links")
    elif "model" in groups:
        _model(found, groups["model"])
    return found


def _ids(found: Configuration, ids: Setting) -> None:
    for each in _elements(ids, "ifaces.ids"):
        if not isinstance(each.value, str) or not MAC.fullmatch(each.value):
            raise each.place.refuse(f'ifaces.ids: {each.value!r} is not an address: "02:00:00:00:00:00" is one')
        address = bytes.fromhex(each.value.replace(":", ""))
        if address[0] & 1 or not any(address):
            raise each.place.refuse(f"ifaces.ids: {each.value} is not the address of a single station")
        if address[0] & SECOND and address[0] & 2:
            address = bytes([address[0] & ~SECOND]) + address[1:]
            _warn(found, each, each.value, f"is an address as before Linux 4.1; it is read as {name_of(address)}")
        found.numbered.append(Station(address))
        if found.stations.find(address):
            _warn(found, each, name_of(address), "is given twice; the first one counts")
        else:
            found.stations.all.append(found.numbered[-1])
    if len(found.stations.all) > MOST:
        raise ids.place.refuse(f"ifaces.ids: up to {MOST} stations, not {len(found.stations.all)}")


def _mediums(found: Configuration, array: Setting) -> None:
    """Each list is a medium of its own, numbered from 1; stations in no list are in medium 0."""
    for number, members in enumerate(_elements(array, "ifaces.medium_array"), 1):
        for each in _elements(members, "ifaces.medium_array"):
            found.numbered[_index(found, each, "ifaces.medium_array")].medium = number


def _model(found: Configuration, setting: Setting) -> None:
    model, stations = _group(setting, "model"), found.stations
    kind = _choice(setting, model, "type", TYPES)
    for name in NEEDED.get(kind, ()):
        if name not in model:
            raise setting.place.refuse(f"model.{name} is missing; {kind} needs it")
    known = [*COMMON, *KEYS_OF_TYPE[kind]]
    stations.mode = {"snr": Mode.SNR, "path_loss": Mode.PATH_LOSS}.get(kind, Mode.PROB)
    if "fading_coefficient" in model:
        stations.fading_db = _integer(model["fading_coefficient"], "model.fading_coefficient", 0, 30)
    if "noise_threshold" in model:
        stations.noise_dbm = _integer(model["noise_threshold"], "model.noise_threshold", -130, 0)
    if kind == "path_loss":
        known += _path_loss(found, setting, model)
    elif "links" in model:
        if kind == "snr":
            _links(found, model["links"], "model.links", whole=True)
        else:
            _links(found, model["links"], "model.links", whole=False, mirrored=kind == "prob")
    if "default_prob" in model and stations.mode is Mode.PROB:
        stations.default_error = _fraction(found, model["default_prob"], "model.default_prob", 0, 1)
    _unknown(found, model, known, "model.", f" with type {kind!r}")


def _from_old_group(path_loss: Setting) -> Setting:
    """Convert the group `path_loss`, older than `model`, to that; its model_params are (model_name, path_loss_exp,
    xg)."""
    model, place = dict(_group(path_loss, "path_loss")), path_loss.place
    if "model_params" not in model:
        raise place.refuse("path_loss.model_params is missing: (model_name, path_loss_exp, xg)")
    parameters = _elements(model.pop("model_params"), "path_loss.model_params")
    names = ("model_name", "path_loss_exp", "xg")[: len(parameters)]
    return Setting({"type": Setting("path_loss", place), **model, **dict(zip(names, parameters, strict=False))}, place)


def _path_loss(found: Configuration, setting: Setting, model: dict[str, Setting]) -> list[str]:
    """Set the stations' positions and powers, and the model. Return the model's own keys."""
    stations = found.numbered

    def each(name: str, read: Callable[[Setting, str], object], attribute: str) -> None:
        if name not in model:
            return
        values = _elements(model[name], f"model.{name}")
        if len(values) != len(stations):
            raise model[name].place.refuse(f"model.{name}: {len(values)} for {len(stations)} stations")
        for station, value in zip(stations, values, strict=True):
            setattr(station, attribute, read(value, f"model.{name}"))

    each("positions", lambda value, name: _vector(found, value, name), "position")
    each("directions", lambda value, name: _vector(found, value, name), "direction")
    each("tx_powers", lambda value, name: _fraction(found, value, name, -STRONG, STRONG), "tx_power")
    each("isnodeaps", lambda value, name: bool(_integer(value, name, 0, 1)), "is_ap")
    if "isnodeaps" in model:
        _warn(found, model["isnodeaps"], "model.isnodeaps", "has no effect: a frame has the power of its sender")
    loss = Loss(_choice(setting, model, "model_name", [loss.value for loss in Loss]))
    keys = KEYS_OF_LOSS[loss]
    if "path_loss_exp" in keys and "path_loss_exp" not in model:
        raise setting.place.refuse(f"model.path_loss_exp is missing; {loss.value} needs it")
    parameters: dict[str, float] = {}
    for name in keys:
        if name in model:
            read = _integer if name in INTEGERS else partial(_fraction, found)
            parameters[keys[name]] = read(model[name], f"model.{name}", *BOUNDS[name])
    found.stations.loss = PathLoss(loss, **parameters)  # type: ignore[arg-type]
    return list(keys)


def _links(found: Configuration, links: Setting, name: str, whole: bool, mirrored: bool = True) -> None:
    """Read (from, to, value): an SNR in whole dB, or a probability. With `mirrored`, a value given for one direction
    holds for both."""
    stations, values = found.numbered, found.stations.snr if whole else found.stations.error
    for link in _elements(links, name):
        parts = _elements(link, name)
        if len(parts) != 3:
            raise link.place.refuse(f"{name}: a link is (from, to, {'snr' if whole else 'probability'})")
        a, b = (stations[_index(found, part, name)].address for part in parts[:2])
        value: float = _integer(parts[2], name, -200, 130) if whole else _fraction(found, parts[2], name, 0, 1)
        if a == b:
            _warn(found, link, name, "a link from a station to itself means nothing")
            continue
        if (a, b) in values:
            _warn(found, link, name, "this link is given twice; the last one counts")
        values[a, b] = value
    if mirrored:
        for (a, b), value in list(values.items()):
            values.setdefault((b, a), value)


def _vector(found: Configuration, setting: Setting, name: str) -> Vector:
    parts = _elements(setting, name)
    if len(parts) not in (2, 3):
        raise setting.place.refuse(f"{name}: (x, y) or (x, y, z), not {len(parts)} numbers")
    x, y, z = [*(_fraction(found, part, name, -FAR, FAR) for part in parts), 0.0][:3]
    return x, y, z


def _index(found: Configuration, setting: Setting, name: str) -> int:
    most = len(found.numbered) - 1
    if isinstance(setting.value, bool) or not isinstance(setting.value, int) or not 0 <= setting.value <= most:
        raise setting.place.refuse(f"{name}: {setting.value!r} is not a station; they are numbered from 0 to {most}")
    return setting.value


def _group(setting: Setting, name: str) -> dict[str, Setting]:
    if not isinstance(setting.value, dict):
        raise setting.place.refuse(f"{name} must be a group: {{ … }}")
    return setting.value


def _elements(setting: Setting, name: str) -> tuple[Setting, ...]:
    if not isinstance(setting.value, tuple):
        raise setting.place.refuse(f"{name}: a list ( … ) or an array [ … ] is expected, not {_described(setting)}")
    return setting.value


def _choice(group: Setting, settings: dict[str, Setting], name: str, choices: Iterable[str]) -> str:
    if name not in settings:
        raise group.place.refuse(f"model.{name} is missing; there are: {', '.join(choices)}")
    setting = settings[name]
    if setting.value not in tuple(choices):
        raise setting.place.refuse(f"model.{name}: there is no {_described(setting)}; there are: {', '.join(choices)}")
    return str(setting.value)


def _boolean(setting: Setting, name: str) -> bool:
    if not isinstance(setting.value, bool):
        raise setting.place.refuse(f"{name} must be true or false, not {_described(setting)}")
    return setting.value


def _integer(setting: Setting, name: str, least: float, most: float) -> int:
    if isinstance(setting.value, bool) or not isinstance(setting.value, int):
        raise setting.place.refuse(
            f"{name}: a whole number is expected (wmediumd reads any other as 0), not {_described(setting)}"
        )
    return int(_bounded(setting, name, setting.value, least, most))


def _fraction(found: Configuration, setting: Setting, name: str, least: float, most: float) -> float:
    value = setting.value
    if isinstance(value, int) and not isinstance(value, bool):
        if value:
            _warn(found, setting, name, f"{value} is read as {value}.0; wmediumd reads it as 0")
        value = float(value)
    if not isinstance(value, float) or math.isnan(value):
        raise setting.place.refuse(f"{name}: a number is expected, not {_described(setting)}")
    return _bounded(setting, name, value, least, most)


def _bounded(setting: Setting, name: str, value: float, least: float, most: float) -> float:
    if not least <= value <= most:
        raise setting.place.refuse(f"{name}: {value:g} is not between {least:g} and {most:g}")
    return value


def _described(setting: Setting) -> str:
    if isinstance(setting.value, dict | tuple):
        return "a group" if isinstance(setting.value, dict) else "a list"
    return repr(setting.value)


def _unknown(
    found: Configuration, settings: dict[str, Setting], known: Iterable[str], prefix: str, where: str = ""
) -> None:
    for name, setting in settings.items():
        if name not in known:
            _warn(found, setting, prefix + name, f"has no meaning{where}, and is ignored")


def _warn(found: Configuration, setting: Setting, name: str, what: str) -> None:
    found.warnings.append(f"{setting.place}: {name} {what}")
