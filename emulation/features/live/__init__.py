# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab live`: show a running network on a page in the browser, and change it there.

`session` sends the lane's program (`inside.program`) one request a line: time passes as `pace` says, and users at the
page ask for changes. It publishes the network's state to the page. What was done is a list of `actions`. A new lane
repeats them to go back to a saved moment, and a script repeats them to the byte. `air` reads frames from the growing
trace, `show` has what does not change, and `server` serves the page on this machine only. The page is in `page/`.
"""
