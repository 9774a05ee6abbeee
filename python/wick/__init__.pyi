# SPDX-License-Identifier: BSD-2-Clause
from . import tracemalloc as tracemalloc
from ._errors import WickError as WickError
from ._errors import WickFileNotFoundError as WickFileNotFoundError
from ._errors import WickPermissionError as WickPermissionError
from ._errors import WickProcessError as WickProcessError
from ._errors import WickValueError as WickValueError
from ._leaks import Amount as Amount
from ._leaks import Leak as Leak
from ._leaks import Leaks as Leaks
from ._leaks import LeakStack as LeakStack
from ._leaks import detect_memory_leaks as detect_memory_leaks
from ._profile import Frame as Frame
from ._profile import Function as Function
from ._profile import Profile as Profile
from ._profile import Stack as Stack
from ._profile import Value as Value
from ._profile import export_folded_stacks as export_folded_stacks
from ._profile import generate_flame_graph as generate_flame_graph
from ._profile import load_profile as load_profile
from ._record import Recording as Recording
from ._record import profile as profile
from ._record import profile_function as profile_function
from ._record import profile_process as profile_process

__version__: str
__all__: list[str]
