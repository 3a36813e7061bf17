"""Problem files, written from problems."""

from __future__ import annotations

import json
import math
import os
import struct
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._features import Feature
from ._models import Classifier, Equation, Layers
from .errors import FileError

if TYPE_CHECKING:
    from ._causal import CausalModel

#: The fields of a problem file, with the contents of the files that it names.
Written = tuple[dict[str, Any], dict[str, bytes]]

#: The fields of features that problem files call as Python does.
SAME = [
    "mean", "std", "change", "weight", "norm_weight", "step", "most_change", "most_change_share", "label",
]  # fmt: skip


def feature_fields(feature: Feature) -> dict[str, Any]:
    """The ``[[feature]]`` of a problem file."""
    fields: dict[str, Any] = {"name": feature.name}
    if feature.kind in ("category", "ordinal"):
        fields["categories"] = feature._labels
        if feature.ordered or feature.kind == "ordinal":
            fields["ordered"] = True
        if feature.ordered:
            fields["one_hot"] = True
    elif feature.kind != "real":
        fields["kind"] = feature.kind
    usual = {field.name: field.default for field in Feature.__dataclass_fields__.values()}
    for name in SAME:
        value = getattr(feature, name)
        if value != usual[name]:
            fields[name] = value
    if feature.limits is not None:
        fields["limits"] = list(feature.limits)
    if feature.unit is not None:
        fields["unit"] = feature.unit if isinstance(feature.unit, str) else list(feature.unit)
    if feature.describe:
        fields["describe"] = dict(feature._described)
    if feature.missing is not None:
        fields["missing"] = {
            key: list(value) if isinstance(value, tuple) else value for key, value in feature.missing.items()
        }
    if feature.special:
        special = feature._special
        with_words = all(words is not None for _, words in special)
        fields["special"] = (
            {repr(float(value)): words for value, words in special} if with_words else [v for v, _ in special]
        )
    return fields


def classifier_fields(classifier: Classifier, stem: str) -> Written:
    """The ``[classifier]`` of a problem file, and its file."""
    fields: dict[str, Any] = {}
    files: dict[str, bytes] = {}
    if classifier.trees is not None:
        name = f"{stem}.trees"
        fields["trees"], files[name] = name, classifier.trees
    elif len(classifier.layers) == 1:
        weight, bias = classifier.layers[0]
        fields |= {"coefficients": weight[0].tolist(), "intercept": float(bias[0])}
    else:
        name = f"{stem}.safetensors"
        fields |= {"network": name, "activation": classifier.activation}
        files[name] = safetensors({"": classifier.layers})
    fields |= {"threshold": classifier.threshold, "inputs": classifier.inputs}
    return fields, files


def equation_fields(model: CausalModel, name: str) -> Written:
    """The ``[[equation]]`` sections of a causal model, and the file of its networks."""
    sections = []
    networks: dict[str, Layers] = {}
    for feature, equation in model.equations.items():
        fields: dict[str, Any] = {"feature": feature}
        if equation.formula is not None:
            fields["formula"] = equation.formula
            if equation.inverse is not None:
                fields["inverse"] = equation.inverse
        elif len(equation.layers) == 1:
            weight, bias = equation.layers[0]
            fields |= {
                "parents": list(equation.parents),
                "coefficients": weight[0].tolist(),
                "intercept": float(bias[0]),
                "inputs": equation.inputs,
            }
        else:
            prefix = f"equation{len(networks)}."
            networks[prefix] = equation.layers
            fields |= {
                "parents": list(equation.parents),
                "network": name,
                "prefix": prefix,
                "activation": equation.activation,
                "inputs": equation.inputs,
            }
        sections.append(fields)
    return {"equation": sections}, {name: safetensors(networks)} if networks else {}


def safetensors(networks: Mapping[str, Layers]) -> bytes:
    """A file of networks: ``<prefix>layer<j>.weight`` and ``<prefix>layer<j>.bias``."""
    header: dict[str, Any] = {}
    data = b""
    for prefix, layers in networks.items():
        for number, pair in enumerate(layers):
            for part, array in zip(("weight", "bias"), pair):
                content = np.ascontiguousarray(array, dtype="<f8").tobytes()
                header[f"{prefix}layer{number}.{part}"] = {
                    "dtype": "F64",
                    "shape": list(np.shape(array)),
                    "data_offsets": [len(data), len(data) + len(content)],
                }
                data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def to_json(fields: Mapping[str, Any]) -> str:
    """Fields as JSON, in which no limit is ``null``."""

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: plain(inner) for name, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(inner) for inner in value]
        return None if isinstance(value, float) and math.isinf(value) else value

    return json.dumps(plain(fields), indent=2, ensure_ascii=False) + "\n"


def to_toml(fields: Mapping[str, Any]) -> str:
    """Fields as TOML: plain ones first, then sections."""
    lines = [f"{name} = {_toml(value)}" for name, value in fields.items() if not _is_section(value)]
    for name, value in fields.items():
        if _is_section(value):
            for section in value if isinstance(value, list) else [value]:
                lines += ["", f"[[{name}]]" if isinstance(value, list) else f"[{name}]"]
                lines += [f"{_key(key)} = {_toml(inner)}" for key, inner in section.items()]
    return "\n".join(lines) + "\n"


def _is_section(value: Any) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)
    )


def _key(name: str) -> str:
    return name if name.replace("_", "a").isalnum() and name.isascii() else _text(name)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(name)} = {_toml(inner)}" for name, inner in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_toml(inner) for inner in value)}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return _text(str(value))


def save(path: str | os.PathLike[str], files: Mapping[str, bytes], overwrite: bool) -> None:
    """Writes files into the folder of the first, all of them or none; the first, which names the others, comes last."""
    folder = Path(path).parent
    targets = [folder / name for name in files]
    there = [target for target in targets if target.exists()]
    if there and not overwrite:
        raise FileError(f"{there[0]}: exists already; give another name, or overwrite=True")
    written: list[tuple[str, Path]] = []
    try:
        for target, content in zip(targets, files.values()):
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".surefoot-", delete=False) as file:
                written.append((file.name, target))
                file.write(content)
            os.chmod(file.name, 0o666 & ~_umask())
        for name, target in reversed(written):
            os.replace(name, target)
    except OSError as error:
        for name, _ in written:
            Path(name).unlink(missing_ok=True)
        raise FileError(f"{path}: cannot be written: {error.strerror}") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def rule_fields(
    forbid: Sequence[tuple[str, object, object]], features: Sequence[Feature]
) -> list[dict[str, Any]]:
    """The ``[[forbid]]`` sections of transitions."""
    known = {feature.name: feature for feature in features}
    sections = []
    for name, *ends in forbid:
        named = known[name].kind in ("category", "ordinal")
        section: dict[str, Any] = {"feature": name}
        for field, end in zip(("from", "to"), ends):
            if end is not None:
                several = list(end) if isinstance(end, (list, tuple, set)) else [end]
                from ._tables import label

                section[field] = [label(value) if named else float(str(value)) for value in several]
        sections.append(section)
    return sections


def equation_of(stated: Mapping[str, Any]) -> Equation:
    """An equation as the engine states that of a problem file."""
    return Equation(
        stated["formula"],
        stated["inverse"],
        tuple(stated["parents"]),
        tuple(stated["layers"]),
        stated["activation"],
        stated["inputs"],
    )
