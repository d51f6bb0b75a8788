"""The race: is a routing any good? Its properties, then the small network trained with it and with the paper's."""

from capsnet_book.race.race import Race, race
from capsnet_book.race.routing_properties import Properties, Property, properties

__all__ = ["Properties", "Property", "Race", "properties", "race"]
