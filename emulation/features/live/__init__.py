# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab live`: a network at whose page one looks, and does things, while it runs.

`session` is the game: it tells the lane's program (`served`) what to do next, a line at a time, as time passes by
`pace` or somebody at the page asks for something; and tells the page how all is. What was done is a list of `deeds`:
from it a new lane comes back to a saved moment, and a script is made that repeats it to the byte. `air` reads the
frames from the growing trace, `show` says what does not change, and `server` is what the page talks to, on this machine
only. The page itself is in `page/`.
"""
