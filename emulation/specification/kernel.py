# SPDX-License-Identifier: BSD-3-Clause
"""The user's own kernel modules and their parameters, and folders of plug-ins."""

import re
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from emulation.specification.words import Section, Words, pairs
from topologies.files import named_by

VARIABLE = re.compile(r"net(\.[\w-]+)+")


class Kernel(Section):
    """Modules and plug-ins to load."""

    modules: Words = Field(
        (), description="folders of kernel modules of your own, for --tcp MODULE:NAME, --qdisc and --load"
    )
    load: Words = Field((), description="more kernel modules to load")
    module_parameters: Annotated[dict[str, str], BeforeValidator(pairs)] = Field(
        {}, description="MODULE.PARAMETER=VALUE[,...], set before the network starts"
    )
    sysctl: Annotated[dict[str, str], BeforeValidator(pairs)] = Field(
        {}, description="NAME=VALUE[,...] of each node's network: net.ipv4.tcp_tso_rtt_log=0"
    )
    plugins: Words = Field(
        (), description="folders of your own with links/, routing/, applications/ or recorders/ in them"
    )

    @field_validator("modules", "plugins")
    @classmethod
    def _trusted(cls, folders: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        return tuple(named_by(folder, info.context) for folder in folders)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for name in self.module_parameters:
            if not all(part.isidentifier() for part in name.split(".", 1)) or "." not in name:
                raise ValueError(f"module_parameters: {name!r} is not of the form MODULE.PARAMETER")
        if other := next((name for name in self.sysctl if not VARIABLE.fullmatch(name)), None):
            raise ValueError(f"sysctl: {other!r} does not belong to a network; net.ipv4.tcp_sack does")
        return self
